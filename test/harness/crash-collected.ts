import assert from 'node:assert/strict';
import { reserveCommands } from '../../server/src/operator/reserve-commands.ts';
import type { ApiResponse } from './api-client.ts';
import { verifyBooks } from './crash-transfer.ts';
import { countWhere, type CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';
import { operate } from './operate.ts';

const payer = { network: 'aps', account_number: '7000001' };
const hourMs = 60 * 60_000;

/** Everything that a merchant does around a collected payment. */
export interface Shop {
  /** The reference of the payment to refund. */
  reference: string;
  subAccountId: string;
  /** The event to resend. */
  eventId: string;
  /** Forms of the pages of a link and a counter, as a browser has them; sent again they are the same payment. */
  forms: { path: string; fields: Record<string, string> }[];
}

const shops = new WeakMap<CrashWorld, Shop>();

export function shopOf(world: CrashWorld): Shop {
  const shop = shops.get(world);
  assert(shop);
  return shop;
}

/**
 * A payment of D450 that is shared with a sub-account, a link, and a counter that notifies a number. With a reserve also a payment
 * of which a part was held, and is now due to be settled.
 */
export async function openShop(world: CrashWorld, { hasReserve = false } = {}): Promise<void> {
  await world.start('api');
  const api = world.client();
  const sub = { name: 'Awa', percentage: 40, settlement_code: 'aps', account_number: '7000001' };
  const { body: subAccount } = await api.post('/v1/sub-accounts', sub);
  const subAccountId = String(subAccount['id']);
  await api.post('/v1/payments', { data: { amount: 450, ...payer, sub_account: subAccountId } });
  await world.runWorker();
  if (hasReserve) await payWithReserve(world);
  const { data: charges } = (await api.get('/v1/transactions')).body as { data: Record<string, unknown>[] };
  const charge = charges.find(({ amount }) => amount === 450);
  assert.equal(charge?.['status'], 'completed');
  const { data: events } = (await api.get('/v1/events')).body as { data: Record<string, unknown>[] };
  const succeeded = events.find(({ event }) => event === 'charge.succeeded');
  const { body: link } = await api.post('/v1/payment-links', { data: { title: 'Book', amount: 30, currency: 'GMD' } });
  const { body: counter } = await api.post('/v1/virtual-terminals', { name: 'Desk', chat_numbers: ['7012345'] });
  shops.set(world, {
    ...{ reference: String(charge['reference']), subAccountId, eventId: String(succeeded?.['id']) },
    forms: [
      await readForm(String(link['url']), payer),
      await readForm(String(counter['qr_code_url']), { amount: '20' }),
    ],
  });
}

/** A pending refund would keep the reserve of its own payment. */
async function payWithReserve(world: CrashWorld): Promise<void> {
  const owner = ['--merchant', world.merchant.id];
  await operate(world, reserveCommands, 'reserve set', [...owner, '--percent', '10', '--hours', '1']);
  await world.client().post('/v1/payments', { data: { amount: 100, ...payer } });
  await world.runWorker();
  await operate(world, reserveCommands, 'reserve clear', owner);
  world.advance(hourMs + 60_000);
}

async function readForm(url: string, typed: Record<string, string>): Promise<Shop['forms'][number]> {
  const page = await (await fetch(url)).text();
  const hidden = [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]));
  return { path: new URL(url).pathname, fields: { ...fields, ...typed } };
}

/** The merchant and two payers do all of it at once at one process; what dies with it has no response. */
export async function doEverything(world: CrashWorld, url = world.apiUrl): Promise<void> {
  for (const send of requestsOf(world, url)) await send().catch(() => null);
}

/** They do it again until it has a response. */
export async function repeatEverything(world: CrashWorld): Promise<void> {
  for (const send of requestsOf(world, world.apiUrl)) {
    await eventually('the request has a response', async () => {
      const { status, text } = await send();
      assert(status < 400 || status === 409, `${status} ${text}`);
      return status !== 409;
    });
  }
}

function requestsOf(world: CrashWorld, url: string): (() => Promise<Pick<ApiResponse, 'status' | 'text'>>)[] {
  const { reference, subAccountId, eventId, forms } = shopOf(world);
  const api = world.client(url);
  return [
    () => api.post('/v1/transactions/refund', { reference, amount: 50 }, { 'idempotency-key': 'a refund' }),
    () => api.post(`/v1/sub-accounts/${subAccountId}/payouts`, { amount: 90 }, { 'idempotency-key': 'a payout' }),
    ...forms.map(
      ({ path, fields }) =>
        () =>
          submit(`${url}${path}`, fields),
    ),
    () => api.post(`/v1/events/${eventId}/resend`, {}, { 'idempotency-key': 'a resend' }),
  ];
}

async function submit(
  url: string,
  fields: Record<string, string>,
): Promise<{ status: number; text: string; location: string | null }> {
  const headers = { origin: new URL(url).origin };
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual', headers });
  const text = await response.text();
  assert.notEqual(response.status, 200, `the page came again: ${text}`);
  return { status: response.status, text, location: response.headers.get('location') };
}

/** The payer at the counter pays: staff are to get a notice once a worker has collected. */
export async function payAtCounter(world: CrashWorld): Promise<void> {
  const form = shopOf(world).forms.at(-1);
  assert(form);
  const { location } = await submit(`${world.apiUrl}${form.path}`, form.fields);
  const paid = await submit(new URL(location ?? '', world.apiUrl).href, payer);
  assert.equal(paid.status, 303, paid.text);
}

/** Checks that each request had one effect, and that what followed from it was done once. */
export async function verifyShop(
  world: CrashWorld,
  { intents, charges }: { intents: number; charges: number },
): Promise<void> {
  assert.equal(await countWhere(world, 'payment_intents'), intents, 'one payment for each form');
  assert.equal(await countWhere(world, 'charges'), charges);
  const collected = await countWhere(world, `charges WHERE status = 'completed'`);
  assert.equal(await countWhere(world, `simulator.sessions WHERE status = 'complete'`), collected);
  const transfers = await world.db.rows({
    name: 'test_transfers',
    text: 'SELECT kind, status, amount::integer AS amount FROM transfers ORDER BY kind',
    values: [],
  });
  assert.deepEqual(transfers, [
    { kind: 'refund', status: 'completed', amount: 5_000 },
    { kind: 'sub_account_payout', status: 'completed', amount: 9_000 },
  ]);
  assert.equal(await countWhere(world, 'refunds'), 1);
  assert.equal(
    await countWhere(world, `simulator.payouts WHERE status = 'completed'`),
    2,
    'the network paid each once',
  );
  assert.equal(await countWhere(world, `ledger_holds WHERE status = 'open'`), 0);
  const unsettled = 'settles_at IS NOT NULL AND settled_at IS NULL';
  assert.equal(await countWhere(world, `charges WHERE ${unsettled}`), 0, 'no reserve is left');
  const atCounter = 'terminal_id IS NOT NULL';
  const toNotify = await countWhere(world, `payment_intents WHERE ${atCounter} AND status = 'successful'`);
  assert.equal(await countWhere(world, `notifications WHERE status = 'sent'`), toNotify);
  await verifyBooks(world);
  await verifyEvents(world);
}

/** Each outcome has one event, and the merchant has received each of them. */
async function verifyEvents(world: CrashWorld): Promise<void> {
  const outcomes = await world.db.rows<{ id: string; objectId: string; kind: string }>({
    name: 'test_outcomes',
    text: `SELECT id, object_id AS "objectId", kind FROM events
           WHERE kind IN ('charge.succeeded', 'charge.failed', 'transfer.succeeded', 'transfer.failed')`,
    values: [],
  });
  const subjects = outcomes.map(({ objectId, kind }) => `${kind} ${objectId}`);
  assert.equal(new Set(subjects).size, subjects.length, 'one event for each outcome');
  const received = world.receiver.received.map(({ headers }) => String(headers['webhook-id']));
  assert.deepEqual([...new Set(received)].toSorted(), outcomes.map(({ id }) => id).toSorted());
  const sent = received.filter((id) => id === shopOf(world).eventId).length;
  assert(sent >= 2, `the event that was sent again arrived ${sent} times`);
  assert.equal(await countWhere(world, `webhook_deliveries WHERE status <> 'delivered'`), 0);
}
