import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { overTcp, startTcpProxy } from '../../../test/harness/tcp-proxy.ts';
import { isReplay, startIdempotencyWorld } from './idempotency-world.corpus.ts';

const database = await createTestDatabase();
const { hostname, port } = new URL(overTcp(database.appUrl));
const proxy = await startTcpProxy({ host: hostname, port: Number(port) });
const { service, api, newKey, pay, countRecords } = await startIdempotencyWorld({
  database: { ...database, appUrl: overTcp(database.appUrl, proxy.port) },
});
const loseCommitResponse = () => proxy.loseCommitResponse('payment_intents_insert');
// The key's first use from an address is committed before its request.
assert.equal((await pay({ amount: 1 }, newKey())).status, 201);
after(async () => {
  await service.stop();
  await proxy.close();
  await database.drop();
});

test('a request with a key whose commit is not confirmed gets its response, and has one effect', async () => {
  const before = await countRecords();
  const isLost = loseCommitResponse();
  const key = newKey();
  const first = await pay({ amount: 77 }, key);
  await isLost;
  assert.deepEqual([first.status, isReplay(first)], [201, false], first.text);
  const again = await pay({ amount: 77 }, key);
  assert.deepEqual([again.text, isReplay(again)], [first.text, true]);
  assert.equal((await countRecords()).payment_intents, before.payment_intents + 1);
});

test('requests whose shared commit is not confirmed get their responses, each with one effect', async () => {
  const before = await countRecords();
  const isFirstLost = loseCommitResponse();
  const payments = Array.from({ length: 40 }, (_, index) => ({ amount: index + 1, key: newKey() }));
  const responding = Promise.all(payments.map(({ amount, key }) => pay({ amount }, key)));
  // The first one's own, and then the one that the others share.
  await isFirstLost;
  await loseCommitResponse();
  const responses = await responding;
  // On a busy machine the first one's second try may share the other commit that is lost. Whoever has lost two sends it again.
  const isRefused = ({ status }: { status: number }) => status === 503;
  assert.ok(responses.filter(isRefused).length <= 1, JSON.stringify(responses.map(({ status }) => status)));
  for (const [index, response] of responses.entries()) {
    const { amount = 0, key = '' } = payments[index] ?? {};
    const last = isRefused(response) ? await pay({ amount }, key) : response;
    assert.deepEqual([last.status, isReplay(last)], [201, isRefused(response)], last.text);
    assert.equal(last.body['amount'], amount);
  }
  assert.equal((await countRecords()).payment_intents, before.payment_intents + payments.length);
});

test('a request without a key whose commit is not confirmed is 503, because it may have had its effect', async () => {
  const isLost = loseCommitResponse();
  const response = await api.post('/v1/payments', { data: { amount: 5 } });
  await isLost;
  assert.deepEqual([response.status, response.body['code']], [503, 'unavailable']);
});
