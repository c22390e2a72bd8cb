import assert from 'node:assert/strict';
import type { ApiResponse, ApiClient } from '../../../test/harness/api-client.ts';
import { createContractClient, loadContract } from '../../../test/harness/openapi.ts';
import { startService, type TestMerchant, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { systemRandom } from '../kit/random.ts';
import { uuidV7 } from '../kit/ids.ts';
import type { Account } from '../ledger/accounts.ts';
import { post } from '../ledger/post.ts';
import { getSubAccountForDeletion, markSubAccountDeleted } from './manage-sub-accounts.ts';

/** The API of sub-accounts and their groups on a service of its own, every answer held against the document. */
export type SubAccountApi = Awaited<ReturnType<typeof startSubAccountApi>>;

export const paths = { accounts: '/v1/sub-accounts', groups: '/v1/sub-account-groups' };

export const subAccountBody = {
  name: 'Awa Ceesay',
  percentage: 12.5,
  settlement_code: 'wave',
  account_number: '701 2345',
};

export const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';

export async function startSubAccountApi() {
  const service = await startService();
  const contract = await loadContract();
  const { test: merchant, live } = await service.onboard();
  const clientOf = (of: Pick<TestMerchant, 'key'>) => createContractClient(contract, service.url, of.key);
  const api = clientOf(merchant);
  const created = async (path: string, body: object, by: ApiClient = api): Promise<Record<string, unknown>> => {
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
    create: (fields: object = {}, by?: ApiClient) => created(paths.accounts, { ...subAccountBody, ...fields }, by),
    createGroup: (members: object[], fields: object = {}, by?: ApiClient) =>
      created(paths.groups, { name: 'Rent', members, ...fields }, by),
    put: (address: string, body: object, by: ApiClient = api): Promise<ApiResponse> =>
      by.send('PUT', address, { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    /** What a list answers, in short. */
    list: async (path: string, query = '', by: ApiClient = api) => {
      const { body, text } = await by.get(`${path}?${query}`);
      const rows = body['data'] as Record<string, unknown>[];
      assert.ok(Array.isArray(rows), text);
      return { rows, ids: rows.map(({ id }) => id), meta: body['meta'] as Record<string, unknown> };
    },
    /** Gives an account of the merchant's ledger so many bututs. */
    credit: (account: Account, amountMinor: bigint) => creditAccount(service, merchant, account, amountMinor),
    /** Everything that is stored of sub-accounts and groups. */
    stored: () =>
      asOwner(
        service,
        `SELECT (SELECT jsonb_agg(accounts ORDER BY id) FROM sub_accounts AS accounts) AS accounts,
           (SELECT jsonb_agg(groups ORDER BY id) FROM sub_account_groups AS groups) AS groups,
           (SELECT jsonb_agg(members ORDER BY group_id, position) FROM sub_account_group_members AS members) AS members`,
      ),
    /** As the deletion does it, once nothing stands against it. */
    markDeleted: (id: unknown) =>
      service.db.withTransaction(async (tx) => {
        const subAccount = await getSubAccountForDeletion(tx, merchant.merchant.id, String(id));
        tx.send(markSubAccountDeleted(subAccount, service.clock.now()));
      }),
  };
}

export function refusal({ status, body }: ApiResponse): string {
  const [field] = (body['errors'] ?? []) as { path: string }[];
  return `${status} ${String(body['code'])} ${field?.path ?? 'no field'}`;
}

function creditAccount(service: TestService, { merchant }: TestMerchant, account: Account, amountMinor: bigint) {
  const newId = () => uuidV7(service.clock, systemRandom);
  return service.db.withTransaction((tx) =>
    post(
      tx,
      { newId },
      {
        merchantId: merchant.id,
        currency: merchant.currency,
        flow: 'test',
        source: { type: 'test', id: newId() },
        movements: [{ debit: 'float:rail', credit: account, amountMinor }],
        at: service.clock.now(),
      },
    ),
  );
}
