import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createApiClient, type ApiResponse, type ApiClient } from '../harness/api-client.ts';
import type { OwnRecords } from '../harness/api-examples.ts';
import { createTestDatabase, type TestDatabase } from '../harness/database.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { startService, type TestService } from '../harness/service.ts';
import { asOwner, dumpTables } from '../harness/tables.ts';

type Request = (api: ApiClient, own: OwnRecords) => Promise<ApiResponse>;

const key = () => ({ 'idempotency-key': randomUUID() });
const transfer = { amount: 10, network: 'wave', account_number: '7000010', beneficiary_name: 'Awa Ceesay' };

/** Every request that emits an event. */
const changes: Readonly<Record<string, Request>> = {
  'a payment is asked for': (api) => api.post('/v1/payments', { data: { amount: 10 } }),
  'a payment is cancelled': (api, { intentId }) => api.post(`/v1/payments/${intentId}/cancel`),
  'a transfer is ordered': (api) => api.post('/v1/transfers', transfer, key()),
  'a transfer is cancelled': (api, { transferId }) => api.post(`/v1/transfers/${transferId}/cancel`),
  'a customer is made': (api) => api.post('/v1/customers', { name: 'Awa Ceesay' }),
  'a customer is changed': (api, { customerId: id }) =>
    api.send('PUT', `/v1/customers/${id}`, {
      body: '{"email":"awa@shop.example"}',
      headers: { 'content-type': 'application/json' },
    }),
  'a customer is deleted': (api, { customerId }) => api.send('DELETE', `/v1/customers/${customerId}`),
};

// Stored whether or not the request gets a response.
const besides = ['public.idempotency_keys', 'public.rate_limits', 'public.request_log'];

describe('a change and its event', () => {
  let database: TestDatabase;
  let service: TestService;
  let api: ApiClient;
  let own: OwnRecords;
  /** Receives every event; nobody sends to it, because no worker runs. */
  let endpointId: string;

  before(async () => {
    database = await createTestDatabase();
    const working = await startService({ database });
    const { test: merchant } = await working.onboard();
    own = await createOwnRecords(createApiClient(working.url, merchant.key));
    await working.app.drain();
    await working.stop();
    service = await startService({ database, settings: { ROLE: 'api', APP_DATABASE_URL: database.appUrl } });
    api = createApiClient(service.url, merchant.key);
    const endpoint = { url: 'http://127.0.0.1:9/events', enabled_events: ['*'] };
    endpointId = String((await api.post('/v1/webhook-endpoints', endpoint)).body['id']);
  });

  after(async () => {
    await service.stop();
    await database.drop();
  });

  test('match one to one after workers ran: payments, refunds, transfers', async () => {
    const kinds = await asOwner<{ kind: string }>(service, 'SELECT DISTINCT kind FROM events ORDER BY kind');
    const happened = kinds.map(({ kind }) => kind);
    for (const kind of ['charge.succeeded', 'charge.refunded', 'transfer.created'])
      assert(happened.includes(kind), kind);
    assert.deepEqual(await objectsOutOfStep(service), []);
  });

  for (const table of ['events', 'webhook_deliveries']) {
    test(`are both rolled back when ${table} cannot be written`, async () => {
      const stored = await storedRows(service);
      await asOwner(service, refusing(table));
      for (const [change, request] of Object.entries(changes)) {
        const { status, text } = await request(api, own);
        assert(status >= 500, `${change}: ${status} ${text}`);
      }
      await asOwner(service, 'DROP FUNCTION refuse() CASCADE');
      assert.deepEqual(await storedRows(service), stored);
    });
  }

  for (const [change, request] of Object.entries(changes)) {
    test(`are stored together when ${change}, with the delivery of the event`, async () => {
      const before = await countEvents(service, endpointId);
      const { status, text } = await request(api, own);
      assert(status < 300, `${status} ${text}`);
      const { events, deliveries } = await countEvents(service, endpointId);
      const [made, planned] = [events - before.events, deliveries - before.deliveries];
      assert(made >= 1 && made === planned, `${made} events, ${planned} with a delivery`);
      assert.deepEqual(await objectsOutOfStep(service), []);
    });
  }
});

function refusing(table: string): string {
  return `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''refused''; END';
    CREATE TRIGGER refused BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`;
}

async function storedRows(service: TestService): Promise<Map<string, string>> {
  const tables = await dumpTables(service);
  for (const name of besides) tables.delete(name);
  return tables;
}

/** Objects whose count differs from their events: too few, too many, or a sequence number twice. */
function objectsOutOfStep(service: TestService): Promise<unknown[]> {
  const counted = ['payment_intents', 'charges', 'transfers', 'customers'].map(
    (table) => `SELECT '${table}' AS table, merchant_id, id, event_sequence FROM ${table}`,
  );
  return asOwner(
    service,
    `SELECT objects.*, told.count, told.last FROM (${counted.join(' UNION ALL ')}) AS objects
     CROSS JOIN LATERAL (
       SELECT count(*) AS count, coalesce(max(sequence), 0) AS last FROM events
       WHERE events.merchant_id = objects.merchant_id AND events.object_id = objects.id
     ) AS told
     WHERE told.count <> event_sequence OR told.last <> event_sequence`,
  );
}

interface Counts {
  events: number;
  /** Events with a delivery to the endpoint. */
  deliveries: number;
}

async function countEvents(service: TestService, endpointId: string): Promise<Counts> {
  const [counts] = await asOwner<Counts>(
    service,
    `SELECT (SELECT count(*)::integer FROM events) AS events,
            (SELECT count(DISTINCT event_id)::integer FROM webhook_deliveries WHERE endpoint_id = $1) AS deliveries`,
    [endpointId],
  );
  return counts ?? assert.fail('the database did not count');
}
