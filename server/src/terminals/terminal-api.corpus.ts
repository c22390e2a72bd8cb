import assert from 'node:assert/strict';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createContractClient, loadContract } from '../../../test/harness/openapi.ts';
import { startService, type TestMerchant } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';

/** The API of links and terminals on its own service; every response is checked against the OpenAPI document. */
export type CollectingApi = Awaited<ReturnType<typeof startCollectingApi>>;

export const terminals = '/v1/virtual-terminals';
export const links = '/v1/payment-links';
export const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';
export const terminalBody = { name: 'Till 1', chat_numbers: ['701 2345', '+221 77 123 45 67'] };

export async function startCollectingApi() {
  const contract = await loadContract();
  const service = await startService();
  const { test: merchant, live } = await service.onboard();
  const clientOf = (of: Pick<TestMerchant, 'key'>) => createContractClient(contract, service.url, of.key);
  const api = clientOf(merchant);
  const created = async (path: string, body: object, by: ApiClient = api) => {
    const response = await by.post(path, body);
    assert.equal(response.status, 201, response.text);
    return response.body;
  };
  return {
    service,
    merchant,
    live,
    api,
    clientOf,
    newTerminal: (fields: object = {}, by?: ApiClient) => created(terminals, { ...terminalBody, ...fields }, by),
    newLink: (fields: object = {}, by?: ApiClient) => created(links, { data: { title: 'School fees', ...fields } }, by),
    newSubAccount: async (fields: object = {}): Promise<string> => {
      const awa = { name: 'Awa', percentage: 20, settlement_code: 'wave', account_number: '7000001', ...fields };
      return String((await created('/v1/sub-accounts', awa))['id']);
    },
    put: (address: string, body: object, by: ApiClient = api): Promise<ApiResponse> =>
      by.send('PUT', address, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    remove: (address: string, by: ApiClient = api): Promise<ApiResponse> => by.send('DELETE', address),
    /** A list's rows, their ids and its meta. */
    list: async (path: string, query = '', by: ApiClient = api) => {
      const { body, text } = await by.get(`${path}?${query}`);
      const rows = body['data'] as Record<string, unknown>[];
      assert.ok(Array.isArray(rows), text);
      return { rows, ids: rows.map(({ id }) => id), meta: body['meta'] as Record<string, unknown> };
    },
    /** All stored links and terminals. */
    stored: () =>
      asOwner(
        service,
        `SELECT (SELECT jsonb_agg(links ORDER BY id) FROM payment_links AS links) AS links,
           (SELECT jsonb_agg(terminals ORDER BY id) FROM virtual_terminals AS terminals) AS terminals,
           (SELECT jsonb_agg(codes ORDER BY code) FROM terminal_codes AS codes) AS codes`,
      ),
  };
}

/** Status, code and first field of a refusal. */
export function refusal({ status, body }: ApiResponse): string {
  const [field] = (body['errors'] ?? []) as { path: string }[];
  return `${status} ${String(body['code'])} ${field?.path ?? 'no field'}`;
}
