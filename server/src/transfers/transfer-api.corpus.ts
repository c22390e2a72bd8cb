import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createTestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../test/harness/tables.ts';

/** A merchant with clients that check every response against the contract. */
export interface Shop extends TestMerchant {
  api: ApiClient;
  live: ApiClient;
}

/**
 * The service without a worker: nothing is sent to a network, so that tests see what a request does by itself.
 */
export interface TransferApi {
  service: TestService;
  clock: ManualClock;
  contract: Contract;
  newShop(): Promise<Shop>;
  /** Everything that a transfer could leave behind, and the balance. */
  tracesOf(shop: Shop): Promise<unknown>;
  /** Deletes the idempotency keys: a refusal that depends on state is stored under its key, and leaves nothing else. */
  forgetKeys(shop: Shop): Promise<void>;
  close(): Promise<void>;
}

export async function startTransferApi(): Promise<TransferApi> {
  const clock = new ManualClock();
  const database = await createTestDatabase();
  const service = await startService({ clock, database, settings: { ROLE: 'api', DATABASE_URL: database.adminUrl } });
  const contract = await loadContract();
  return {
    service,
    clock,
    contract,
    newShop: async () => {
      const { test, live } = await service.onboard();
      const client = (key: string) => createContractClient(contract, service.url, key);
      return { ...test, api: client(test.key), live: client(live.key) };
    },
    tracesOf: async ({ api, merchant }) => {
      const tables = ['transfers', 'ledger_holds', 'ledger_movements', 'events', 'outbox', 'idempotency_keys'] as const;
      const rows = await countRows(service, merchant.id, ...tables, 'transfer_notes', 'transfer_days');
      return { rows, balance: await balanceOf(api) };
    },
    forgetKeys: async ({ merchant }) => {
      await asOwner(service, 'DELETE FROM idempotency_keys WHERE merchant_id = $1', [merchant.id]);
    },
    close: async () => {
      await service.stop();
      await database.drop();
    },
  };
}

export const transferBody = { amount: 100, network: 'aps', account_number: '7001234', beneficiary_name: 'Awa Ceesay' };

/** Requests a transfer, under a new idempotency key unless one is given. */
export function send(api: ApiClient, body: object, key: string = randomUUID()): Promise<ApiResponse> {
  return api.post('/v1/transfers', body, { 'idempotency-key': key });
}

/** The id of an accepted transfer. */
export async function accepted(api: ApiClient, changes: object = {}): Promise<string> {
  const response = await send(api, { ...transferBody, ...changes });
  assert.equal(response.status, 201, response.text);
  return String(response.body['id']);
}

export async function balanceOf(api: ApiClient): Promise<Record<string, unknown>> {
  const response = await api.get('/v1/balances');
  assert.equal(response.status, 200, response.text);
  return response.body;
}

/** Status, code and the first field of a refusal. */
export function refusal(response: ApiResponse): string {
  const [field] = (response.body['errors'] ?? []) as { path: string; message: string }[];
  if (field) assert.match(field.message, /\w.*\.( Did you mean \w+\?)?$/);
  return `${response.status} ${String(response.body['code'])} ${field?.path ?? 'no field'}`;
}
