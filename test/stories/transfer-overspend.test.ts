import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setFeeRule } from '../../server/src/merchants/manage-rules.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiClient } from '../harness/api-client.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { effort } from '../harness/effort.ts';
import { startService, type TestService } from '../harness/service.ts';
import { startTransferStory, type TransferStory } from '../harness/transfer-story.ts';

const rounds = effort({ usual: 12, long: 250 });
const feeMinor = 37n;
// So that requests race each other in the database.
const connectionsMax = 10;

let database: TestDatabase;
let world: TransferStory;
let second: TestService;

before(async () => {
  database = await createTestDatabase();
  // Without a worker nothing is sent, so the money of each transfer stays held.
  const settings = { ROLE: 'api', DATABASE_URL: database.adminUrl };
  world = await startTransferStory({ database, settings, connectionsMax });
  second = await startService({ clock: world.clock, database, settings, connectionsMax });
  const fee = { percentHundredths: 0n, fixedMinor: feeMinor, minimumMinor: 0n, maximumMinor: null };
  await setFeeRule(world.service.db, 'default', { ...fee, operation: 'transfer', network: 'all' });
});

after(async () => {
  await second.stop();
  await world.stop();
  await database.drop();
});

function randomBetween(least: number, most: number): number {
  return least + (Buffer.from(systemRandom.bytes(4)).readUInt32BE() % (most - least + 1));
}

/** Dalasi as in the API. */
function dalasi(minor: bigint): number {
  return Number(minor) / 100;
}

test('of concurrent transfers as many are accepted as the balance covers with fees, never below zero', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const story = await world.forAnotherMerchant();
    const count = randomBetween(2, 24);
    const amountMinor = BigInt(randomBetween(100, 20_000));
    const cost = amountMinor + feeMinor;
    const affordable = BigInt(randomBetween(0, count + 2));
    const balanceMinor = affordable * cost + BigInt(randomBetween(0, Number(cost) - 1));
    // A new merchant's test money less the balance of the round.
    const spent = 100_000_000n - balanceMinor - feeMinor;
    await story.transfer('7001234', { amount: dalasi(spent) });
    assert.equal(await story.payoutBalance(), dalasi(balanceMinor));
    const clients = [world.service.url, second.url].map((url) => createApiClient(url, story.merchant.key));
    const body = { amount: dalasi(amountMinor), network: 'aps', account_number: '7001234', beneficiary_name: 'Awa' };
    const requests = Array.from({ length: count }, (_, index) => {
      const [client = story.api] = clients.slice(index % 2);
      return client.post('/v1/transfers', body, { 'idempotency-key': `order ${index}` });
    });
    const responses = await Promise.all(requests);
    const context = `${count} orders of ${amountMinor} against ${balanceMinor}`;
    const accepted = responses.filter((response) => response.status === 201).length;
    const refused = responses.filter((response) => response.body['code'] === 'insufficient_balance').length;
    const fitting = Math.min(count, Number(balanceMinor / cost));
    assert.deepEqual([accepted, refused], [fitting, count - fitting], context);
    assert.equal(await story.payoutBalance(), dalasi(balanceMinor - BigInt(accepted) * cost), context);
  }
  await world.verify();
});

test('of concurrent transfers of random amounts none that fits is refused and none too large accepted', async () => {
  for (let round = 0; round < rounds; round += 1) {
    const story = await world.forAnotherMerchant();
    const balanceMinor = BigInt(randomBetween(5_000, 60_000));
    await story.transfer('7001234', { amount: dalasi(100_000_000n - balanceMinor - feeMinor) });
    const sums = Array.from({ length: 12 }, () => BigInt(randomBetween(100, 20_000)));
    const responses = await Promise.all(sums.map((sum) => story.request('7001234', { amount: dalasi(sum) })));
    const accepted = sums.filter((_, index) => responses[index]?.status === 201);
    const leftMinor = balanceMinor - accepted.reduce((total, sum) => total + sum + feeMinor, 0n);
    assert.ok(leftMinor >= 0n, `${accepted.join(' + ')} were taken from ${balanceMinor}`);
    assert.equal(await story.payoutBalance(), dalasi(leftMinor));
    for (const [index, sum] of sums.entries()) {
      const response = responses[index];
      if (response?.status === 201) continue;
      assert.deepEqual([response?.status, response?.body['code']], [400, 'insufficient_balance']);
      assert.ok(sum + feeMinor > leftMinor, `${sum} was refused although ${leftMinor} were left`);
    }
  }
  await world.verify();
});
