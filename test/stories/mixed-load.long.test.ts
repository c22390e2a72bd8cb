import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { FragileService } from '../harness/fragile-service.ts';
import { memorySlope, sampleProcess } from '../harness/memory-samples.ts';
import { arrive, percentile } from '../harness/open-arrivals.ts';
import { ProcessWorld } from '../harness/process.ts';

// The load of an ordinary day's peak for half an hour: sixty payments, twenty reads and twenty payouts a second, which come whether or
// not earlier ones have been answered.

const perSecond = 100;
const seconds = 30 * 60;
// Memory settles first.
const settlingMs = 10 * 60 * 1_000;
const blockMs = 2 * 60 * 1_000;

let world: ProcessWorld;

before(() => {
  world = new ProcessWorld();
});

after(() => world.close());

/** The n-th request. */
function createSender(api: ApiClient, known: { payments: string[]; transfers: string[] }) {
  const payer = { network: 'aps', account_number: '7000001' };
  const pay = async (): Promise<ApiResponse> => {
    const response = await api.post('/v1/payments', { data: { amount: 100, ...payer } });
    known.payments.push(String(response.body['payment_intent_id']));
    return response;
  };
  const payOut = async (): Promise<ApiResponse> => {
    const body = { amount: 1, ...payer, beneficiary_name: 'Awa Ceesay' };
    const response = await api.post('/v1/transfers', body, { 'idempotency-key': randomUUID() });
    known.transfers.push(String(response.body['id']));
    return response;
  };
  const read = (index: number): Promise<ApiResponse> => {
    const id = known.payments[index % Math.max(1, known.payments.length)];
    return api.get(id === undefined || index % 2 === 0 ? '/v1/payments?limit=20' : `/v1/payments/${id}`);
  };
  const kinds = [pay, read, pay, payOut, pay];
  return (index: number): Promise<ApiResponse> => (kinds[index % kinds.length] ?? pay)(index);
}

test('half an hour of mixed load at 100 requests a second is served within its times, without an error', async (context) => {
  const fragile = await FragileService.start(world);
  const known = { payments: [] as string[], transfers: [] as string[] };
  const send = createSender(fragile.api(), known);
  await arrive({ perSecond, seconds: 20 }, send);
  const sampling = sampleProcess(fragile.service.pid);
  const { durationsMs, statuses } = await arrive({ perSecond, seconds }, send);
  const samples = await sampling.stop();
  const [p50, p95, p99] = [50, 95, 99].map((percent) => percentile(durationsMs, percent)) as [number, number, number];
  const counts = [...statuses].map(([status, count]) => `${count} × ${status}`).join(', ');
  const times = `p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  context.diagnostic(`${counts}; ${times}`);
  const { perHour, error } = memorySlope(
    samples.filter(({ atMs }) => atMs > settlingMs),
    blockMs,
  );
  const highest = Math.max(...samples.map(({ residentMiB }) => residentMiB));
  context.diagnostic(
    `memory ${highest.toFixed(0)} MiB at most, ${perHour.toFixed(1)} ± ${error.toFixed(1)} MiB an hour`,
  );
  assert.deepEqual(
    [...statuses.keys()].filter((status) => !status.startsWith('2')),
    [],
    counts,
  );
  await fragile.verify({
    payments: new Map(known.payments.map((id) => [id, id])),
    transfers: new Map(known.transfers.map((id) => [id, id])),
  });
  await fragile.stop();
  assert.ok(p95 < 200 && p99 < 500, times);
});
