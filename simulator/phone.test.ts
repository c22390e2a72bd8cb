import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  account,
  approvalWindowMs,
  startSimulatedNetworks,
  type SimulatedNetworks,
} from '../test/harness/simulated-networks.ts';
import { PhoneNumberError } from '../server/src/kit/phone-number.ts';
import type { CollectionResponse, ContinueCollection, StartCollection } from '../server/src/networks/contract.ts';
import type { PhoneAction } from './transitions.ts';
import type { Prompt } from './prompt.ts';

let networks: SimulatedNetworks;

before(async () => {
  networks = await startSimulatedNetworks();
});

after(async () => {
  await networks.close();
});

/** Starts a collection that waits for the payer; returns what later calls need. */
async function startOpen(network: string, request: StartCollection): Promise<ContinueCollection & { id: string }> {
  const response = await networks.connector(network).collections.start(request);
  assert.ok(response.state === 'awaiting_payer', `it does not wait for the payer: ${response.state}`);
  return { ...request, handles: response.handles, code: null, id: await networks.sessionIdOf(network, request) };
}

async function act(id: string, action: PhoneAction): Promise<Prompt> {
  const result = await networks.simulator.act(id, action);
  assert.ok(result?.done, `the phone does not allow ${action}`);
  return result.prompt;
}

async function promptOf(id: string): Promise<Prompt> {
  const prompt = await networks.simulator.findPrompt(id);
  assert.ok(prompt);
  return prompt;
}

async function callbackStates(network: string): Promise<CollectionResponse['state'][]> {
  return (await networks.reportedCollections(network)).map(({ state }) => state);
}

test('the phone of a number shows its prompts in any form of the number, newest first', async () => {
  const first = await startOpen('aps', networks.request('+2207022222'));
  await networks.clock.advance(1_000);
  const second = await startOpen('wave', networks.request('+220877022222'));
  for (const number of ['7022222', '+220 702 2222', '877022222', '00220877022222']) {
    const prompts = await networks.simulator.listPrompts({ number });
    assert.deepEqual(
      prompts.map(({ sessionId }) => sessionId),
      [second.id, first.id],
      number,
    );
  }
  await assert.rejects(networks.simulator.listPrompts({ number: '12' }), PhoneNumberError);
});

test('the phone can be narrowed to the prompts of one merchant', async () => {
  const mine = await startOpen('aps', networks.request('+2207022223'));
  const other = networks.request('+2207022223', { reference: 'Other567reference0000000000002' });
  const theirs = await startOpen('aps', other);
  const number = '7022223';
  assert.equal((await networks.simulator.listPrompts({ number })).length, 2);
  const promptsOf = async (owner: string): Promise<string[]> =>
    (await networks.simulator.listPrompts({ number, account: owner })).map(({ sessionId }) => sessionId);
  assert.deepEqual(await promptsOf(account), [mine.id]);
  assert.deepEqual(await promptsOf('Other567'), [theirs.id]);
});

test('a prompt shows amount, description, number as sent, and the allowed actions', async () => {
  const { id } = await startOpen('afrimoney', networks.request('+2207022224'));
  const prompt = await promptOf(id);
  assert.equal(prompt.account, account);
  assert.equal(prompt.networkName, 'Afrimoney');
  assert.equal(prompt.amountMinor, 10_000n);
  assert.equal(prompt.description, 'Two bags of rice');
  assert.equal(prompt.payerNumber, '+220877022224');
  assert.equal(prompt.payerNumberAsSent, '2207022224', 'as the provider got it');
  assert.equal(prompt.returnUrl, 'https://shop.example/back');
  assert.deepEqual(prompt.actions, ['approve', 'decline']);
  assert.equal(prompt.code, null);
  assert.equal(prompt.transactionId, null);
});

test('a push is final with the tap, and only the first tap counts', async () => {
  const session = await startOpen('aps', networks.request('+2207022225'));
  const prompt = await act(session.id, 'approve');
  assert.equal(prompt.status, 'complete');
  assert.deepEqual(prompt.actions, ['reverse']);
  const again = await networks.simulator.act(session.id, 'approve');
  assert.equal(again?.done, false);
  assert.deepEqual(await callbackStates('aps'), ['succeeded']);
  assert.equal((await networks.connector('aps').collections.lookUp(session)).state, 'succeeded');
});

test('a link needs no number, opens the page of its session, and is final with the tap', async () => {
  const response = await networks.connector('wave').collections.start(networks.request(null));
  assert.ok(response.state === 'awaiting_payer' && response.nextAction.type === 'open_url');
  assert.equal(response.nextAction.url, `${networks.baseUrl}/simulator/wave/${response.networkReference}`);
  await act(response.networkReference.replace(/^cos-/, ''), 'approve');
  assert.deepEqual(await callbackStates('wave'), ['succeeded']);
});

test('an approval that needs confirmation counts only once we confirm it', async () => {
  const session = await startOpen('afrimoney', networks.request('+2207022226'));
  const connector = networks.connector('afrimoney');
  assert.equal((await connector.collections.continue(session)).state, 'awaiting_payer');
  const tapped = await act(session.id, 'approve');
  assert.equal(tapped.status, 'open');
  assert.ok(tapped.awaitsConfirmation);
  assert.deepEqual(tapped.actions, []);
  assert.equal((await connector.collections.lookUp(session)).state, 'awaiting_payer');
  assert.deepEqual(await callbackStates('afrimoney'), []);
  assert.equal((await connector.collections.continue(session)).state, 'succeeded');
  assert.deepEqual(await callbackStates('afrimoney'), ['succeeded']);
  // The confirmation that was planned for 30 s later is withdrawn.
  await networks.clock.advance(60_000);
  assert.deepEqual(await callbackStates('afrimoney'), []);
});

test('an unconfirmed approval completes by itself after 30 s, also past the session’s expiry', async () => {
  const { clock } = networks;
  const session = await startOpen('afrimoney', networks.request('+2207022227'));
  await clock.advance(approvalWindowMs - 5_000);
  await act(session.id, 'approve');
  await clock.advance(29_999);
  const connector = networks.connector('afrimoney');
  assert.equal((await connector.collections.lookUp(session)).state, 'awaiting_payer');
  await clock.advance(1);
  assert.equal((await connector.collections.lookUp(session)).state, 'succeeded');
  assert.deepEqual(await callbackStates('afrimoney'), ['succeeded']);
  assert.equal((await connector.collections.continue(session)).state, 'succeeded');
  assert.deepEqual(await callbackStates('afrimoney'), []);
});

test('only the code on the phone is accepted, and the third wrong one fails the session', async () => {
  const connector = networks.connector('qmoney');
  const session = await startOpen('qmoney', networks.request('+2207022229'));
  const { code, actions } = await promptOf(session.id);
  assert.match(code ?? '', /^\d{6}$/);
  assert.notEqual(code, '123456');
  assert.deepEqual(actions, ['decline']);
  const type = (typed: string): Promise<CollectionResponse> =>
    connector.collections.continue({ ...session, code: typed });
  assert.deepEqual(await type('123456'), { state: 'code_refused', attemptsLeft: null });
  assert.deepEqual(await type('1'), { state: 'code_refused', attemptsLeft: null });
  const last = await type('000000');
  assert.ok(last.state === 'refused' && last.failure.code === 'code_wrong');
  assert.deepEqual(await type(code ?? ''), last, 'the right code comes too late');
  assert.deepEqual(await callbackStates('qmoney'), ['refused']);
  assert.equal((await promptOf(session.id)).code, null);
});

test('the correct code completes once, and entering it again changes nothing', async () => {
  const connector = networks.connector('qmoney');
  const session = await startOpen('qmoney', networks.request('+2207022230'));
  const { code } = await promptOf(session.id);
  const first = await connector.collections.continue({ ...session, code });
  assert.equal(first.state, 'succeeded');
  assert.deepEqual(await connector.collections.continue({ ...session, code }), first);
  assert.deepEqual(await callbackStates('qmoney'), ['succeeded']);
});

test('a code can be entered although the start had no response', async () => {
  const connector = networks.connector('qmoney');
  const session = await startOpen('qmoney', networks.request('+2207022231'));
  const { code } = await promptOf(session.id);
  const response = await connector.collections.continue({ ...session, handles: {}, code });
  assert.equal(response.state, 'succeeded');
});

test('a late approval succeeds after a decline, an expiry and a cancellation', async () => {
  const { clock } = networks;
  type Opened = ContinueCollection & { id: string };
  const endings: [string, string, (session: Opened) => Promise<unknown>][] = [
    ['failed', 'aps', ({ id }) => act(id, 'decline')],
    ['expired', 'aps', () => clock.advance(approvalWindowMs)],
    ['cancelled', 'wave', (session) => networks.connector('wave').collections.cancel(session)],
  ];
  for (const [status, network, end] of endings) {
    const session = await startOpen(network, networks.request('+2207022232'));
    await end(session);
    const closed = await promptOf(session.id);
    assert.equal(closed.status, status);
    assert.deepEqual(closed.actions, ['approve_late']);
    await callbackStates(network);
    assert.equal((await act(session.id, 'approve_late')).status, 'complete');
    assert.deepEqual(await callbackStates(network), ['succeeded']);
    assert.equal((await networks.connector(network).collections.lookUp(session)).state, 'succeeded');
  }
});

test('a success can be reversed once', async () => {
  const session = await startOpen('aps', networks.request('+2207022233'));
  await act(session.id, 'approve');
  assert.deepEqual((await act(session.id, 'reverse')).actions, []);
  assert.equal((await networks.simulator.act(session.id, 'reverse'))?.done, false);
  assert.deepEqual(await callbackStates('aps'), ['reversed', 'reversed'], 'as both are looked up');
});

test('a concurrent approval and cancellation end as one of the two', async () => {
  const connector = networks.connector('wave');
  for (let round = 0; round < 10; round += 1) {
    const session = await startOpen('wave', networks.request('+2207022234'));
    const [tap, cancel] = await Promise.all([
      networks.simulator.act(session.id, 'approve'),
      connector.collections.cancel(session),
    ]);
    const response = await connector.collections.lookUp(session);
    assert.deepEqual(response, cancel.state === 'succeeded' ? cancel : response);
    assert.equal(response.state, tap?.done === true ? 'succeeded' : 'refused');
    assert.deepEqual(await callbackStates('wave'), tap?.done === true ? ['succeeded'] : []);
  }
});

test('cancelling a paid session reports that it was paid', async () => {
  const session = await startOpen('wave', networks.request('+2207022235'));
  await act(session.id, 'approve');
  assert.equal((await networks.connector('wave').collections.cancel(session)).state, 'succeeded');
});

test('a session that is not visible yet is not on the phone', async () => {
  const { simulator, clock } = networks;
  const request = networks.request('+2207030005');
  const response = networks.connector('aps').collections.start(request);
  await networks.untilStored(request);
  assert.deepEqual(await simulator.listPrompts({ number: '7030005' }), []);
  await clock.advance(3_000);
  await response;
  await clock.advance(2_000);
  const [prompt] = await simulator.listPrompts({ number: '7030005' });
  assert.equal(prompt?.status, 'complete');
  assert.deepEqual(prompt.actions, ['reverse']);
});

test('an unknown session has no prompt', async () => {
  assert.equal(await networks.simulator.findPrompt('Shop1234nothing'), undefined);
  assert.equal(await networks.simulator.findPrompt(''), undefined);
  assert.equal(await networks.simulator.act('Shop1234nothing', 'approve'), undefined);
});

test('another process continues where the first one was killed', async () => {
  const session = await startOpen('afrimoney', networks.request('+2207022236'));
  await callbackStates('afrimoney');
  await act(session.id, 'approve');
  const second = networks.secondProcess();
  const prompt = await second.simulator.findPrompt(session.id);
  assert.ok(prompt?.awaitsConfirmation);
  await networks.clock.advance(30_000);
  networks.receiver.received.length = 0;
  while ((await second.sender.sendDueCallbacks()) > 0);
  assert.equal(networks.receiver.received.length, 1);
  assert.equal((await second.simulator.findPrompt(session.id))?.status, 'complete');
});
