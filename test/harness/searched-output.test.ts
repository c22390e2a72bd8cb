import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createApiClient, parseApiResponse } from './api-client.ts';
import { startCallbackReceiver } from './callback-receiver.ts';
import { watchOutput } from './program.ts';
import { assertNoSecret, assertNoSecretMeasured } from './searched-output.ts';
import { startService, testKeys } from './service.ts';

const number = '{"detail":"no response for +220 700 0001"}';

test('a test whose service logs a secret or a number, prints, measures, responds with or sends one fails', async () => {
  const service = await startService();
  const business = await service.onboard();
  const texts = [business.test.key, business.live.webhookSecret, testKeys.SEAL_KEY, service.database.adminUrl, number];
  for (const text of texts)
    assert.throws(() => assertNoSecret(`{"reason":"${text}"}`, 'it', { withNumbers: true }), text);
  for (const text of texts.filter((one) => one !== number))
    assert.throws(() => parseApiResponse(401, new Headers(), text), /a refusal has/);
  assert.throws(() => assertNoSecretMeasured(`dalasi_seen{reason="${number}"} 1`), /a metric has/);
  service.logLines.push(JSON.stringify({ reason: `the key ${business.test.key} is unknown` }));
  await assert.rejects(service.stop(), /^AssertionError.*the log has/s);
  const other = await startService();
  const { key } = (await other.onboard()).test;
  const data = { amount: 100, description: `paid with ${key}` };
  const client = createApiClient(other.url, key);
  await client.post('/v1/payments', { data });
  await client.get('/v1/payments');
  await assert.rejects(other.stop(), /^AssertionError.*the response to GET \/v1\/payments has/s);
  const ended = Promise.resolve({ code: 0, signal: null });
  await assert.rejects(watchOutput({ written: { stdout: '', stderr: number }, ended }).ended, /standard error has/);
  const receiver = await startCallbackReceiver();
  await fetch(receiver.url, { method: 'POST', body: business.test.webhookSecret });
  await assert.rejects(receiver.close(), /a callback has/);
});
