import assert from 'node:assert/strict';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract } from '../../../test/harness/openapi.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';

/** A merchant with clients that hold every answer to the contract. */
export interface Shop extends TestMerchant {
  api: ApiClient;
  live: ApiClient;
}

/** The service without a worker: what a request does can be told from what follows it. */
export interface CustomerApi {
  service: TestService;
  clock: ManualClock;
  newShop(): Promise<Shop>;
  /** The events of a customer, oldest first, as `sequence kind` and their records. */
  eventsOf(id: string): Promise<{ what: string; record: Record<string, unknown> }[]>;
  close(): Promise<void>;
}

export async function startCustomerApi(): Promise<CustomerApi> {
  const clock = new ManualClock();
  const database = await createTestDatabase();
  const service = await startService({ clock, database, settings: { ROLE: 'api', DATABASE_URL: database.adminUrl } });
  const contract = await loadContract();
  return {
    service,
    clock,
    newShop: async () => {
      const { test, live } = await service.onboard();
      const client = (key: string) => createContractClient(contract, service.url, key);
      return { ...test, api: client(test.key), live: client(live.key) };
    },
    eventsOf: (id) =>
      asOwner(
        service,
        `SELECT sequence || ' ' || kind AS what, record FROM events WHERE object_id = $1 ORDER BY sequence`,
        [id],
      ),
    close: async () => {
      await service.stop();
      await database.drop();
    },
  };
}

/** A new customer's record. */
export async function created(api: ApiClient, fields: object = {}): Promise<Record<string, unknown> & { id: string }> {
  const response = await api.post('/v1/customers', { name: 'Awa Ceesay', ...fields });
  assert.equal(response.status, 201, response.text);
  return { ...response.body, id: String(response.body['id']) };
}

export function change(api: ApiClient, id: string, fields: object): Promise<ApiResponse> {
  return api.send('PUT', `/v1/customers/${id}`, {
    body: JSON.stringify(fields),
    headers: { 'content-type': 'application/json' },
  });
}

export async function remove(api: ApiClient, id: string): Promise<void> {
  const response = await api.send('DELETE', `/v1/customers/${id}`);
  assert.deepEqual([response.status, response.body], [200, { id, deleted: true }]);
}

/** The ids that a list answers, in its order. */
export async function idsOf(api: ApiClient, query: string): Promise<string[]> {
  const response = await api.get(`/v1/customers?${query}`);
  assert.equal(response.status, 200, response.text);
  return (response.body['data'] as { id: string }[]).map(({ id }) => id);
}

/** Status, code and the first field that is named. */
export function refusal(response: ApiResponse): string {
  const [field] = (response.body['errors'] ?? []) as { path: string; message: string }[];
  if (field) assert.match(field.message, /\w.*\.( Did you mean \w+\?)?$/);
  return `${response.status} ${String(response.body['code'])} ${field?.path ?? 'no field'}`;
}
