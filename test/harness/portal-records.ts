import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { MerchantRole } from '../../server/src/accounts/permissions.ts';
import { inviteMember } from '../../server/src/accounts/team.ts';
import { sendForm } from '../../server/src/dashboard/patterns/form.corpus.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import type { OwnRecords } from './api-examples.ts';
import type { DashboardWorld, Member } from './dashboard-world.ts';
import { eventually } from './eventually.ts';
import { createOwnRecords, type RecordTexts } from './own-records.ts';
import type { TestBusiness, TestMerchant } from './service.ts';
import { storeReceipt } from './receipts-shop.ts';
import { asOwner } from './tables.ts';
import { createWaitingTransfer } from './waiting-transfer.ts';
import { addTestRailAccount } from './rail-accounts.ts';

/** One business's own records of every kind that a page of the dashboard or the console is about. */
export interface PortalRecords extends OwnRecords {
  businessId: string;
  /** An open case: another amount came than was asked for. */
  caseId: string;
  keyId: string;
  /** The payment of the paid charge. */
  paidIntentId: string;
  /** The id of a request of the API, and that of its line in the request log. */
  requestId: string;
  loggedRequestId: string;
  /** Somebody else in the team, by the login. */
  memberId: string;
  invitationId: string;
  /** A payment that waits at the terminal. */
  counterPaymentId: string;
  /** Nobody's id of an operator, unless the console's world says whose. */
  operatorId: string;
  /** A receipt that has paid nothing. */
  receiptId: string;
  /** A payout that waits until somebody else than the member approves it. */
  transferRequestId: string;
  /** The name of its own account at a network. */
  railAccount: string;
}

const word = 'Bakau and Old Jeshwang Women’s Vegetable Gardeners’ Cooperative Society ';

function longText(length: number): string {
  return word
    .repeat(Math.ceil(length / word.length))
    .slice(0, length)
    .trim();
}

/** The longest texts and the largest amounts that the API takes. */
export const largestTexts: RecordTexts = {
  network: 'wave',
  name: longText(200),
  title: longText(200),
  counter: longText(200),
  group: longText(200),
  url: `http://127.0.0.1:9/${'a-long-address/'.repeat(40)}`,
  amount: 1_000_000,
  paidAmount: 1_000_000,
};

/** The longest name of a business, and of a person. */
export const longestName = longText(100);

/** Creates one record of every kind, in the test environment, whose owner is signed in. */
export async function createPortalRecords(
  world: DashboardWorld,
  business: TestBusiness,
  owner: Member,
  texts: Partial<RecordTexts> = {},
  clientOf: (api: ApiClient) => ApiClient = (api) => api,
): Promise<PortalRecords> {
  const { service, accounts } = world;
  const { merchant } = business.test;
  const api = clientOf(createApiClient(service.url, business.test.key));
  const own = await createOwnRecords(api, texts);
  await pay(api, { amount: 100, account_number: '7000010', ...(texts.title !== undefined && { title: texts.title }) });
  const atCounter = `${service.url}/dashboard/test/${merchant.shortId}/counters/${own.terminalId}/screen`;
  const shown = await sendForm(owner, `${atCounter}/amount`, { amount: '125' });
  assert.equal(shown.status, 303, shown.text);
  // On a busy machine the last preparation is too long ago by now.
  await accounts.sealer.prepare();
  const invitation = await accounts.db.withTransaction((tx) =>
    inviteMember(tx, accounts, {
      ...{ business: { id: merchant.businessId, name: merchant.name }, invitedBy: owner.account },
      ...{ email: `${'a'.repeat(40)}-${merchant.shortId}@example.gm`, grant: { role: 'finance', terminalIds: [] } },
    }),
  );
  const { account: member } = await world.signIn('finance', { business });
  const ids = await untilListed(world, merchant.id);
  const { body: paid } = await api.get(`/v1/transactions/${own.paidChargeId}`);
  return {
    ...own,
    ...ids,
    businessId: merchant.businessId,
    paidIntentId: String(paid['payment_intent_id']),
    memberId: member.id,
    invitationId: invitation.id,
    counterPaymentId: shown.location?.split('/').at(-1) ?? '',
    operatorId: randomUUID(),
    transferRequestId: await createWaitingTransfer(service, {
      ...{ merchantId: merchant.id, account: member, name: texts.name },
    }),
    receiptId: await storeReceipt(service, { merchantId: merchant.id, railAccount: 'own-wave', amountMinor: 45_000n }),
    railAccount: await addTestRailAccount(service, `aps-${merchant.id}`, { businessId: merchant.businessId }),
  };
}

/** What other work writes soon after: the case, and the log of requests. */
async function untilListed(
  { service }: DashboardWorld,
  merchantId: string,
): Promise<Pick<PortalRecords, 'caseId' | 'keyId' | 'requestId' | 'loggedRequestId'>> {
  const newest = async (table: string, columns = 'id'): Promise<Record<string, string> | undefined> => {
    const text = `SELECT ${columns} FROM ${table} WHERE merchant_id = $1 ORDER BY id DESC LIMIT 1`;
    return (await asOwner<Record<string, string>>(service, text, [merchantId]))[0];
  };
  let found: Awaited<ReturnType<typeof newest>>[] = [];
  await eventually('the business has a case and a log', async () => {
    await service.app.drain();
    const tables = [newest('cases'), newest('api_keys'), newest('request_log', 'id, request_id')];
    found = await Promise.all(tables);
    return found.every((row) => row !== undefined);
  });
  const [{ id: caseId = '' } = {}, { id: keyId = '' } = {}, { id = '', request_id: requestId = '' } = {}] = found;
  return { caseId, keyId, requestId, loggedRequestId: id };
}

async function pay(api: ApiClient, data: object): Promise<void> {
  const { status, text } = await api.post('/v1/payments', { data: { network: 'aps', ...data } });
  assert.equal(status, 201, text);
}

/** More payments than a page of a list has, of every amount and state. */
export async function fillLists(world: DashboardWorld, business: TestBusiness): Promise<void> {
  const api = createApiClient(world.service.url, business.test.key);
  const { title, name } = largestTexts;
  for (let index = 0; index < 28; index += 1) {
    const account = ['7000001', '7000002', '7000004', '7000011'][index % 4];
    const amount = index % 3 === 0 ? 999_999.99 : 1;
    await pay(api, { amount, title, customer_name: name, account_number: account, skip_url_validation: true });
  }
  await world.service.app.drain();
}

/**
 * Moves what a business has in its test environment to its live one, as no network with real money is connected to a test: the
 * two merchants change places. Call it before a page of the business was opened.
 */
export async function moveToLive(world: DashboardWorld, business: TestBusiness): Promise<TestBusiness> {
  await world.service.app.drain();
  const change = 'ALTER TABLE merchants';
  const unique = 'merchants_business_environment_key';
  await asOwner(world.service, `${change} DROP CONSTRAINT IF EXISTS ${unique}`);
  const { businessId } = business.test.merchant;
  await asOwner(world.service, 'UPDATE merchants SET test_mode = NOT test_mode WHERE business_id = $1', [businessId]);
  await asOwner(world.service, `${change} ADD CONSTRAINT ${unique} UNIQUE (business_id, test_mode)`);
  const swapped = ({ merchant, ...rest }: TestMerchant): TestMerchant => ({
    ...rest,
    merchant: { ...merchant, testMode: !merchant.testMode },
  });
  return { test: swapped(business.live), live: swapped(business.test) };
}

/** People of every role in a business, by role. A cashier works at the terminal. */
export async function signInRoles(
  world: DashboardWorld,
  business: TestBusiness,
  { terminalIds, roles, name }: { terminalIds: string[]; roles: readonly MerchantRole[]; name?: string },
): Promise<ReadonlyMap<MerchantRole, Member>> {
  const members = new Map<MerchantRole, Member>();
  for (const role of roles) {
    const options = { business, ...(role === 'cashier' && { terminalIds }), ...(name !== undefined && { name }) };
    members.set(role, await world.signIn(role, options));
  }
  return members;
}
