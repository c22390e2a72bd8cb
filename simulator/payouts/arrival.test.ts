import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { account, startSimulatedNetworks, type SimulatedNetworks } from '../../test/harness/simulated-networks.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import { PhoneNumberError } from '../../server/src/kit/phone-number.ts';
import type { StartPayout } from '../../server/src/networks/contract.ts';
import { accountOf } from '../../server/src/networks/reference.ts';
import type { Arrival } from './arrival.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

function arrivals(number: string, owner?: string): Promise<Arrival[]> {
  return networks.simulator.payouts.listArrivals({ number, ...(owner === undefined ? {} : { account: owner }) });
}

/** Returns the simulator's id of the payout. */
async function payOut(request: StartPayout, network = 'aps'): Promise<string> {
  const response = await networks.payouts(network).start(request);
  assert.ok(response.state === 'succeeded', response.state);
  const [payout] = await networks.simulator.payouts.search({
    account: accountOf(request.reference),
    network,
    reference: request.reference,
  });
  assert.ok(payout);
  return payout.id;
}

test('the phone shows arrivals for any form of its number, newest first', async () => {
  const first = await payOut(networks.payoutRequest('+2207522222'));
  await networks.clock.advance(1_000);
  const second = await payOut(networks.payoutRequest('+220877522222'), 'wave');
  for (const number of ['7522222', '+220 752 2222', '877522222', '00220877522222']) {
    const ids = (await arrivals(number)).map(({ payoutId }) => payoutId);
    assert.deepEqual(ids, [second, first], number);
  }
  await assert.rejects(arrivals('12'), PhoneNumberError);
});

test('an arrival shows amount, sender and time', async () => {
  const request = networks.payoutRequest('+2207522223', { amountMinor: 45_050n });
  const payoutId = await payOut(request);
  const [arrival] = await arrivals('7522223');
  assert.match(arrival?.transactionId ?? '', /^T/);
  assert.deepEqual(arrival, {
    payoutId,
    account,
    network: 'aps',
    networkName: 'APS',
    amountMinor: 45_050n,
    currency: 'GMD',
    description: 'Kairaba Bookshop: Wages for May',
    transactionId: arrival?.transactionId,
    arrivedAt: networks.clock.now(),
    reversedAt: null,
  });
});

test('the phone can be narrowed to the arrivals of one merchant', async () => {
  const mine = await payOut(networks.payoutRequest('+2207522224'));
  const theirs = await payOut(networks.payoutRequest('+2207522224', { reference: 'Other567reference0000000000021' }));
  assert.equal((await arrivals('7522224')).length, 2);
  assert.deepEqual(
    (await arrivals('7522224', account)).map(({ payoutId }) => payoutId),
    [mine],
  );
  assert.deepEqual(
    (await arrivals('7522224', 'Other567')).map(({ payoutId }) => payoutId),
    [theirs],
  );
});

test('a payout that is refused, waiting or pending has not arrived', async () => {
  for (const ending of ['0002', '0003', '0004', '0008', '0009', '0010', '0011']) {
    await networks.payouts('aps').start(networks.payoutRequest(`+220753${ending}`));
    assert.deepEqual(await arrivals(`753${ending}`), [], ending);
  }
});

test('money arrives at the time of its completion, and shows that time', async () => {
  const { clock } = networks;
  const begun = clock.now();
  await networks.payouts('aps').start(networks.payoutRequest('+2207540009'));
  await clock.advance(2_500);
  const [arrival] = await arrivals('7540009');
  assert.deepEqual(arrival?.arrivedAt, addMs(begun, 2_000));
});

test('a payout the network does not report yet is not on the phone', async () => {
  const { clock } = networks;
  const request = networks.payoutRequest('+2207540005');
  const response = networks.payouts('aps').start(request);
  await networks.untilStored(request);
  assert.deepEqual(await arrivals('7540005'), []);
  await clock.advance(3_000);
  await response;
  await clock.advance(2_000);
  assert.equal((await arrivals('7540005')).length, 1);
});

test('a reversed arrival shows the time of its reversal', async () => {
  const { clock } = networks;
  const begun = clock.now();
  await payOut(networks.payoutRequest('+2207540012'));
  assert.equal((await arrivals('7540012'))[0]?.reversedAt, null);
  await clock.advance(2_000);
  const [arrival] = await arrivals('7540012');
  assert.deepEqual(arrival?.arrivedAt, begun);
  assert.deepEqual(arrival?.reversedAt, addMs(begun, 2_000));
});
