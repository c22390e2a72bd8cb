import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { dashboardRoutes } from '../../server/src/dashboard/dashboard-routes.ts';
import { createRecoveryCodes } from '../../server/src/accounts/second-factor.ts';
import { inviteMember } from '../../server/src/accounts/team.ts';
import type { OwnRecords } from '../harness/api-examples.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../harness/dashboard-world.ts';
import { eventually } from '../harness/eventually.ts';
import { createOwnRecords } from '../harness/own-records.ts';
import { storeReceipt } from '../harness/receipts-shop.ts';
import { asOwner, dumpOwnTables } from '../harness/tables.ts';
import { createWaitingTransfer } from '../harness/waiting-transfer.ts';

let world: DashboardWorld;
let owner: Member;
let cashier: Member;
let ids: OwnRecords;
/** More records: `endings` are deleted, cancelled or ended. */
const more: Record<string, string> = {};

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  cashier = await world.signIn('cashier', { name: 'Lamin' });
  const { account } = await world.signIn('finance');
  for (const name of ['approved', 'declined']) {
    more[name] = await createWaitingTransfer(world.service, { merchantId: world.business.test.merchant.id, account });
  }
  ids = await createOwnRecords(world.api);
  await createMore();
});
after(() => world.stop());

async function created(path: string, body: unknown): Promise<string> {
  const response = await world.api.post(path, body, { 'idempotency-key': randomUUID() });
  assert.equal(response.status, 201, response.text);
  return String(response.body['id']);
}

async function createMore(): Promise<void> {
  const { api, accounts, business } = world;
  more['customer'] = await created('/v1/customers', { name: 'Sainey' });
  more['link'] = await created('/v1/payment-links', { data: { title: 'Trip' } });
  more['counter'] = await created('/v1/virtual-terminals', { name: 'Till 2', chat_numbers: ['7012345'] });
  more['endpoint'] = await created('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/more' });
  const partner = { name: 'Partner', percentage: 50, settlement_code: 'wave', account_number: '7000001' };
  more['debtor'] = await created('/v1/sub-accounts', partner);
  more['payee'] = await created('/v1/sub-accounts', partner);
  const members = [{ sub_account: more['debtor'], percentage: 10 }];
  more['group'] = await created('/v1/sub-account-groups', { name: 'Trip', members });
  const pay = async (subAccount: string): Promise<{ intentId: string; reference: string }> => {
    const data = { amount: 200, network: 'wave', account_number: '7000001', sub_account: subAccount };
    const { body } = await api.post('/v1/payments', { data });
    const intentId = String(body['payment_intent_id']);
    const path = `/v1/transactions/${intentId}`;
    await eventually('the payment is paid', async () => (await api.get(path)).body['status'] === 'completed');
    return { intentId, reference: String((await api.get(path)).body['reference']) };
  };
  const { reference } = await pay(more['debtor']);
  more['paid'] = (await pay(more['payee'])).intentId;
  await createReceipt();
  await created(`/v1/sub-accounts/${more['debtor']}/payouts`, {});
  await world.service.app.drain();
  // The share is paid out, so the merchant advances what the refund takes of it.
  await created('/v1/transactions/refund', { reference });
  await world.service.app.drain();
  const { businessId } = business.test.merchant;
  const invite = (email: string) =>
    accounts.db.withTransaction((tx) =>
      inviteMember(tx, accounts, {
        ...{ business: { id: businessId, name: 'Kairaba Books' }, invitedBy: owner.account, email },
        grant: { role: 'finance', terminalIds: [] },
      }),
    );
  await renewCodes();
  more['invitation'] = (await invite('withdrawn@example.gm')).id;
}

/** A receipt, and a payment that waits for money which the payer sends straight to the business's number. */
async function createReceipt(): Promise<void> {
  const { api, service, business } = world;
  const { body } = await api.post('/v1/payments', { data: { amount: 30, network: 'wave', account_number: '7000004' } });
  const { body: charge } = await api.get(`/v1/transactions/${String(body['payment_intent_id'])}`);
  const railAccount = 'own-wave';
  const change = 'UPDATE charges SET received_directly = true, rail_account = $2 WHERE id = $1';
  await asOwner(service, change, [charge['id'], railAccount]);
  const merchantId = business.test.merchant.id;
  more['receipt'] = await storeReceipt(service, { merchantId, railAccount, amountMinor: 3_000n });
  more['received'] = String(charge['transaction_reference']);
}

interface Action {
  path: string;
  /** For `:id`. */
  id?: string | undefined;
  /** What is typed over the form as it is drawn. */
  typed?: Record<string, string>;
  /** What has to have happened before. */
  prepare?: () => Promise<void>;
  /** The entry is all that is left: what the action changed is deleted, or it changes nothing else. */
  leavesEntryOnly?: true;
}

/** Each counts once; an app has a new one every half minute only. */
let recoveryCodes: string[] = [];
async function renewCodes(): Promise<void> {
  const { accounts } = world;
  recoveryCodes = await accounts.db.withTransaction(async (tx) => createRecoveryCodes(tx, accounts, owner.account.id));
}
const withFactor = (): Record<string, string> => ({ second_factor: recoveryCodes.pop() ?? owner.code() });

/** Every action of the dashboard, in an order in which each is possible. */
function* actions(): Generator<Action> {
  yield { path: '/settings/business/name', typed: { name: 'Bakau Books' } };
  yield { path: '/settings/business/contact', typed: { contact_phone: '7012345' } };
  yield { path: '/settings/business/logo' };
  yield { path: '/settings/business/logo/remove', leavesEntryOnly: true };
  yield { path: '/settings/checkout/colour', typed: { page_colour: '#8a1c4a' } };
  yield { path: '/settings/checkout/fees', typed: { fee_payer: 'customer' } };
  yield { path: '/settings/checkout/urls', typed: { 'data.return_url': 'https://shop.example/thanks' } };
  yield { path: '/settings/limits/refunds', typed: { refund_limit: '500', ...withFactor() } };
  yield { path: '/settings/limits/payouts', typed: { above: '900', ...withFactor() } };
  yield { path: '/settings/limits/receipts', typed: { above: '900', ...withFactor() } };
  yield { path: '/settings/live/request' };
  yield { path: '/settings/team/invite', typed: { email: 'new@example.gm', role: 'finance', ...withFactor() } };
  const { invitation: id } = more;
  yield { path: '/settings/team/invitations/:id/withdraw', id, typed: withFactor(), leavesEntryOnly: true };
  const member = cashier.account.id;
  yield { path: '/settings/team/:id/role', id: member, typed: { role: 'developer', ...withFactor() } };
  yield { path: '/settings/team/:id/remove', id: member, typed: withFactor(), leavesEntryOnly: true };
  yield { path: '/customers/:id', id: ids.customerId, leavesEntryOnly: true };
  yield { path: '/transfers/:id', id: ids.transferId, leavesEntryOnly: true };
  yield { path: '/transfers/requests/:id', id: more['approved'], leavesEntryOnly: true };
  yield { path: '/audit/export', leavesEntryOnly: true };
  yield* moneyActions();
  // From now on the worker pays sub-accounts out, at whatever moment it comes by.
  yield { path: '/settings/payouts/schedule', typed: { schedule: 'weekly' } };
  yield* recordActions();
  yield* developerActions();
}

function* moneyActions(): Generator<Action> {
  yield { path: '/payments/new', typed: { 'data.amount': '20' } };
  yield { path: '/payments/:id/cancel', id: ids.intentId };
  yield { path: '/payments/:id/refund', id: more['paid'], typed: { amount: '5' } };
  yield { path: '/receipts/:id/match', id: more['receipt'], typed: { charge: more['received'] ?? '' } };
  yield { path: '/counters/:id/screen/amount', id: ids.terminalId, typed: { amount: '20' } };
  const to = { network: 'wave', account_number: '7000001', beneficiary_name: 'Awa' };
  yield { path: '/transfers/new', typed: { amount: '20', ...to, ...withFactor() } };
  yield { path: '/transfers/requests/:id/approve', id: more['approved'], typed: withFactor() };
  yield { path: '/transfers/requests/:id/decline', id: more['declined'] };
  yield { path: '/transfers/:id/cancel', id: ids.transferId, prepare: renewCodes };
  yield { path: '/sub-accounts/:id/payout', id: more['payee'] };
  yield { path: '/sub-accounts/:id/waive', id: more['debtor'], typed: { amount: '1' } };
}

function* recordActions(): Generator<Action> {
  yield { path: '/links/new', typed: { 'data.title': 'Books' } };
  yield { path: '/links/:id/edit', id: more['link'], typed: { 'data.title': 'Longer trip' } };
  yield { path: '/links/:id/switch', id: more['link'] };
  yield { path: '/links/:id/delete', id: more['link'] };
  yield { path: '/counters/new', typed: { name: 'Till 3', 'chat_numbers.0': '7012345' } };
  yield { path: '/counters/:id/edit', id: more['counter'], typed: { name: 'Till 4' } };
  yield { path: '/counters/:id/switch', id: more['counter'] };
  yield { path: '/counters/:id/delete', id: more['counter'] };
  const share = { percentage: '10', settlement_code: 'wave', account_number: '7000001' };
  yield { path: '/sub-accounts/new', typed: { name: 'New partner', ...share } };
  yield { path: '/sub-accounts/:id/edit', id: ids.subAccountId, typed: { percentage: '12' } };
  const destination = { settlement_code: 'aps', account_number: '7000001', ...withFactor() };
  yield { path: '/sub-accounts/:id/destination', id: ids.subAccountId, typed: destination };
  yield { path: '/sub-accounts/:id/delete', id: ids.unusedSubAccountId };
  const row = { 'members.0.sub_account': ids.subAccountId, 'members.0.percentage': '10' };
  yield { path: '/groups/new', typed: { name: 'Rent 2', ...row } };
  yield { path: '/groups/:id/edit', id: more['group'], typed: { name: 'Trip 2' } };
  yield { path: '/groups/:id/delete', id: more['group'] };
  yield { path: '/customers/new', typed: { name: 'Fatou' } };
  yield { path: '/customers/:id/edit', id: more['customer'], typed: { name: 'Sainey Bah' } };
  yield { path: '/customers/:id/delete', id: more['customer'] };
}

function* developerActions(): Generator<Action> {
  yield { path: '/endpoints/new', typed: { url: 'http://127.0.0.1:9/new' } };
  const { endpoint: id } = more;
  yield { path: '/endpoints/:id/edit', id, typed: { description: 'Books' } };
  yield { path: '/endpoints/:id/rotate', id };
  yield { path: '/endpoints/:id/end-overlap', id };
  yield { path: '/endpoints/:id/test', id };
  yield { path: '/endpoints/:id/resend', id, prepare: () => missEvent(id ?? '') };
  yield { path: '/endpoints/:id/resend/choose', id, prepare: () => missEvent(id ?? '') };
  yield { path: '/events/:id/resend', id: ids.eventId };
  yield { path: '/endpoints/:id/pause', id };
  yield { path: '/endpoints/:id/resume', id };
  yield { path: '/endpoints/:id/delete', id };
  // The last: the key that is revoked may be the one with which this test calls the API.
  yield { path: '/keys/new', typed: { name: 'Till', 'scopes.read': 'true', ...withFactor() } };
  yield { path: '/keys/:id/roll', id: more['key'], typed: { overlap: '3600', ...withFactor() } };
  yield { path: '/keys/:id/revoke', id: more['key'], typed: withFactor() };
}

/** An endpoint that is off while a payment is created keeps the event. */
async function missEvent(id: string): Promise<void> {
  const switchTo = async (status: string): Promise<void> => {
    const init = { body: JSON.stringify({ status }), headers: { 'content-type': 'application/json' } };
    assert.equal((await world.api.send('PUT', `/v1/webhook-endpoints/${id}`, init)).status, 200);
  };
  await switchTo('disabled');
  await world.api.post('/v1/payments', { data: { amount: 20 } });
  await world.service.app.drain();
  await switchTo('enabled');
}

/** It only looks whether a signature is right. */
const changesNothing = ['/endpoints/:id/signature'];

/** The fields of the form that acts on a page, as a browser would send them. */
function fieldsOf(page: string): Record<string, string> {
  const [form = ''] = /<form method="post"(?:(?!<\/form>)[^])*<\/form>/.exec(page) ?? [];
  const fields: Record<string, string> = {};
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    const read = (name: string): string => new RegExp(`[\\s]${name}="([^"]*)"`).exec(tag)?.[1] ?? '';
    if (read('type') === 'file' || (read('type') === 'checkbox' && !/\schecked/.test(tag))) continue;
    fields[read('name')] = plain(read('value'));
  }
  for (const [, name = '', options = ''] of form.matchAll(/<select [^>]*name="([^"]*)"[^>]*>([^]*?)<\/select>/g)) {
    const all = [...options.matchAll(/<option value="([^"]*)"([^>]*)>/g)];
    fields[name] = (all.find(([, , state = '']) => state.includes('selected')) ?? all[0])?.[1] ?? '';
  }
  for (const [, name = '', text = ''] of form.matchAll(/<textarea [^>]*name="([^"]*)"[^>]*>\n?([^<]*)</g)) {
    fields[name] = plain(text);
  }
  return fields;
}

const plain = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

const textOf = (page: string): string =>
  page
    .slice(page.indexOf('<main'))
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');

const onePixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Fields that no form has, and that would do harm if anything below one took them (mass assignment). */
const forbidden: Readonly<Record<string, string>> = {
  ...{ merchant_id: randomUUID(), business_id: randomUUID(), id: randomUUID(), account_id: randomUUID() },
  ...{ test_mode: 'false', is_admin: 'true', balance: '1000000', live_approved_at: '2026-01-01', fee: '0' },
  ...{ 'data.status': 'successful', 'data.amount_paid': '1000000', 'data.fee': '0', 'data.merchant_id': randomUUID() },
};

/** Fills a form in and presses its buttons until something was done. */
async function perform({ path, id = '', typed = {} }: Action): Promise<string> {
  const url = world.at(path.replace(':id', id));
  const drawn = await owner.get(url);
  let page = await drawn.text();
  assert.equal(drawn.status, 200, `${path}: ${textOf(page)}`);
  // The second press confirms what the first one showed.
  for (let press = 0; press < 2; press += 1) {
    const fields = { ...forbidden, ...fieldsOf(page), ...typed };
    const response = page.includes('type="file"') ? await upload(url, fields) : await owner.post(url, fields);
    page = await response.text();
    assert.ok(response.status < 400, `${path}: ${response.status} ${textOf(page)}`);
    if (response.status === 303 || !page.includes('name="confirmed"')) return page;
  }
  return page;
}

function upload(url: string, fields: Record<string, string>): Promise<Response> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('logo', new Blob([Buffer.from(onePixel, 'base64')], { type: 'image/png' }), 'logo.png');
  const headers = { cookie: owner.cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html' };
  return fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
}

interface Entry {
  id: string;
  transaction: string;
  changes: { field: string }[];
}

const readEntries = (): Promise<Entry[]> =>
  asOwner(world.service, 'SELECT id, xmin::text AS transaction, changes FROM audit_entries ORDER BY id');

/** The tables of which a transaction has written rows, besides its audit entry. */
async function tablesOf(transaction: string): Promise<string[]> {
  const tables = await asOwner<{ name: string }>(
    world.service,
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE 'audit%'`,
  );
  const counts = tables.map(
    ({ name }) => `SELECT '${name}' AS name WHERE EXISTS (SELECT FROM public.${name} WHERE xmin::text = $1)`,
  );
  const rows = await asOwner<{ name: string }>(world.service, counts.join(' UNION ALL '), [transaction]);
  return rows.map(({ name }) => name);
}

test('each action leaves its audit entry in its transaction, and takes no field but its form’s', async () => {
  const keys = await asOwner<{ id: string }>(world.service, 'SELECT id FROM api_keys WHERE merchant_id = $1', [
    world.business.test.merchant.id,
  ]);
  more['key'] = keys[0]?.id ?? '';
  const live = world.at('/settings/business/contact', 'live');
  await owner.post(live, { ...fieldsOf(await (await owner.get(live)).text()), contact_phone: '7012345' });
  const walked: string[] = [];
  for (const action of actions()) {
    await action.prepare?.();
    const earlier = new Set((await readEntries()).map(({ id }) => id));
    await perform(action);
    const entries = (await readEntries()).filter(({ id }) => !earlier.has(id));
    assert.equal(entries.length, 1, `${action.path} leaves ${entries.length} entries`);
    const received = entries[0]?.changes.filter(({ field }) => field in forbidden).map(({ field }) => field);
    assert.deepEqual(received, [], `${action.path} takes fields that its form does not have`);
    const tables = await tablesOf(entries[0]?.transaction ?? '');
    assert.equal(tables.length === 0, action.leavesEntryOnly === true, `${action.path} wrote ${tables.join(', ')}`);
    walked.push(action.path);
  }
  const posts = dashboardRoutes.filter(({ method }) => method === 'POST').map(({ path }) => path);
  assert.deepEqual([...walked, ...changesNothing].toSorted(), posts.toSorted(), 'each action once');
});

test('an action without an audit entry changes nothing', async () => {
  const before = await dumpOwnTables(world.service);
  for (const path of changesNothing) await perform({ path, id: ids.endpointId, typed: { body: '{}' } });
  assert.deepEqual(await dumpOwnTables(world.service), before);
});

const entriesOf = async (query: string): Promise<number> =>
  (await (await owner.get(world.at(`/audit${query}`))).text()).split('<li class="panel"').length - 1;

test('the audit log names each action in words, leads to its record, and is searched by both', async () => {
  assert.equal(await entriesOf('?action=colour.set'), 1);
  assert.equal(await entriesOf(`?term=${encodeURIComponent('Sainey Bah')}`), 1);
  // Its API key has changed it too.
  assert.equal(await entriesOf(`?object=${more['endpoint']}&person=${owner.account.id}`), 9);
  const log = await (await owner.get(world.at('/audit'))).text();
  const names = [
    ...log.matchAll(/<li class="panel"[^>]*><p><strong>([^<]*)<\/strong>\s*(<a href="([^"]*)">)?([^<]*)/g),
  ];
  assert.ok(names.length > 20);
  for (const [, words = '', link, href = '', record = ''] of names) {
    assert.match(words, /^[A-Z][\w’-]*( [\w’-]+)+$/, words);
    if (link === undefined) assert.match(record.trim(), /^(audit|login)$/, `${words}: ${record}`);
    else {
      const { status } = await owner.get(new URL(href, world.service.url).href);
      // What was deleted since has no page.
      assert.ok(status < 400 || status === 404, `${words}: ${href} ${status}`);
    }
  }
});
