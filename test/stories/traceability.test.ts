import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { seededRandom, systemRandom } from '../../server/src/kit/random.ts';
import { createApiClient, type ApiResponse } from '../harness/api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../harness/dashboard-world.ts';
import { effort } from '../harness/effort.ts';
import { eventually } from '../harness/eventually.ts';
import { ProcessWorld } from '../harness/process.ts';
import { startServiceProcess, type ServiceProcess } from '../harness/service-process.ts';
import { asOwner } from '../harness/tables.ts';

// Payments are made while networks do not respond, processes are killed, connections are lost and the receiver of events fails. Then
// somebody who has one id of a payment, whichever, searches for it in the dashboard and looks for the others.

const { made, traced, kills } = effort({
  usual: { made: 30, traced: 15, kills: 1 },
  long: { made: 600, traced: 200, kills: 6 },
});
const clients = 4;
// Paid, refused, looked up after a timeout, reported three times, paid with another amount, reversed, and waiting for the payer.
const payers = ['7000001', '7000001', '7000002', '7000005', '7000006', '7000007', '7000010', '7000012', '7001234'];
const networks = ['aps', 'wave', 'afrimoney'];

let world: DashboardWorld;
let processes: ProcessWorld;
let api: ServiceProcess;
let receiver: CallbackReceiver;
let owner: Member;
let below: (count: number) => number;
/** The ids that the merchant's own log has. */
const acknowledged: { paymentId: string; requestId: string }[] = [];

before(async () => {
  world = await openDashboardWorld({ settings: { LOG_LEVEL: 'error' } });
  processes = new ProcessWorld();
  receiver = await startCallbackReceiver();
  owner = await world.signIn('owner');
  const random = seededRandom(Buffer.from(systemRandom.bytes(6)).toString('hex'));
  below = (count) => Buffer.from(random.bytes(4)).readUInt32BE() % count;
  const endpoint = { url: `${receiver.url}/events`, enabled_events: ['*'] };
  const response = await world.api.post('/v1/webhook-endpoints', endpoint);
  assert.equal(response.status, 201, response.text);
  await makePayments();
});

after(async () => {
  await processes.close();
  await world.stop();
  await receiver.close();
});

function startApi(): Promise<ServiceProcess> {
  return startServiceProcess(processes, world.service, { RATE_LIMIT_TEST: '0' });
}

async function makePayments(): Promise<void> {
  api = await startApi();
  receiver.respondWith(500);
  const paying = Promise.all(Array.from({ length: clients }, payOn));
  for (let killed = 1; killed <= kills; killed += 1) {
    await eventually('payments are made', () => acknowledged.length >= (made * killed) / (kills + 1));
    api.process.signal('SIGKILL');
    await api.process.ended;
    const connections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'dalasi'`;
    if (killed % 2 === 0) await asOwner(world.service, connections);
    api = await startApi();
  }
  await paying;
  receiver.respondWith(200);
  const open = `SELECT 1 FROM charges WHERE status = 'pending' AND review IS NULL AND account_number <> '7001234'`;
  await eventually('all has ended', async () => (await asOwner(world.service, open)).length === 0, 300_000);
}

async function payOn(): Promise<void> {
  while (acknowledged.length < made) {
    const payer = { network: networks[below(networks.length)], account_number: payers[below(payers.length)] };
    const { body, headers } = await untilAccepted({ amount: (100 + below(10_000)) / 100, ...payer });
    const paymentId = String(body['payment_intent_id']);
    acknowledged.push({ paymentId, requestId: headers.get('x-request-id') ?? '' });
  }
}

/** As a careful client does: repeated under its key until there is a response. */
async function untilAccepted(data: object): Promise<ApiResponse> {
  const key = randomUUID();
  let accepted: ApiResponse | null = null;
  await eventually('the payment is accepted', async () => {
    const client = createApiClient(api.url, world.business.test.key);
    const response = await client.post('/v1/payments', { data }, { 'idempotency-key': key }).catch(() => null);
    if (response?.status === 201) accepted = response;
    else assert.ok(response === null || response.status === 503 || response.status === 409, response?.text);
    return accepted !== null;
  });
  assert.ok(accepted);
  return accepted;
}

/** All ids of a payment that somebody may have, by where from. */
async function idsOf({ paymentId, requestId }: (typeof acknowledged)[number]): Promise<Record<string, string>> {
  const charge = await world.api.get(`/v1/transactions/${paymentId}`);
  const { reference, network_transaction_id: transaction, id } = charge.body;
  const events = await world.api.get(`/v1/events?object_id=${String(id)}`);
  const [newest] = events.body['data'] as { id: string }[];
  // A process that was killed had not written its last ones. What they changed has events that name them; a replay changes nothing.
  const known = `SELECT FROM request_log WHERE request_id = $1 UNION ALL SELECT FROM events WHERE request_id = $1`;
  const isKnown = (await asOwner(world.service, known, [requestId])).length > 0;
  return {
    paymentId,
    ...(isKnown ? { requestId } : {}),
    reference: String(reference),
    eventId: newest?.id ?? '',
    ...(transaction === null ? {} : { transaction: String(transaction) }),
  };
}

/** The page that a search for one id opens, and the payment's page where that is another one, which it links. */
async function openPayment(term: string): Promise<string> {
  const found = await open(`/search?q=${encodeURIComponent(term)}`);
  if (found.includes('<h2>What happened</h2>')) return found;
  const [, record] = /\/search\?q=([0-9a-f-]{36})/.exec(found.slice(found.indexOf('<h2>Details</h2>'))) ?? [];
  assert.ok(record, `the page that ${term} opens has no link to its record`);
  return open(`/search?q=${record}`);
}

/** Follows the redirects of a search to the record's page. */
async function open(path: string): Promise<string> {
  let response = await owner.get(world.at(path));
  for (let redirects = 0; response.status === 303 && redirects < 3; redirects += 1) {
    await response.arrayBuffer();
    response = await owner.get(new URL(response.headers.get('location') ?? '', world.service.url).href);
  }
  assert.equal(response.status, 200, path);
  return response.text();
}

test(`from each id of ${traced} random payments after faults the dashboard reaches all its others`, async (context) => {
  const rest = [...acknowledged];
  const random = Array.from({ length: traced }, () => rest.splice(below(rest.length), 1)).flat();
  let searches = 0;
  for (const payment of random) {
    const ids = await idsOf(payment);
    for (const [from, term] of Object.entries(ids)) {
      const page = await openPayment(term);
      searches += 1;
      for (const [to, id] of Object.entries(ids))
        assert.ok(page.includes(id), `${from} ${term} does not reach ${to} ${id}`);
    }
  }
  const lost = `SELECT count(*)::int AS count FROM events WHERE kind = 'payment_intent.created' AND NOT EXISTS (
    SELECT 1 FROM request_log WHERE request_log.merchant_id = events.merchant_id AND request_log.request_id = events.request_id)`;
  const [{ count } = { count: 0 }] = await asOwner<{ count: number }>(world.service, lost);
  context.diagnostic(
    `${searches} searches of ${made} payments; the log lacks ${count} requests that died with a process`,
  );
});
