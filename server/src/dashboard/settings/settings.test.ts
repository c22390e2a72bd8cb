import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../../test/harness/api-client.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { accessibilityViolations, openPage } from '../../../../test/harness/browser.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { asOwner, countWaiting } from '../../../../test/harness/tables.ts';
import { effort } from '../../../../test/harness/effort.ts';
import { changeRole, listInvitations, listTeam, lockTeamAsOwner } from '../../accounts/team.ts';
import {
  approveLive,
  getBusiness,
  liftSuspension,
  renameBusiness,
  suspendBusiness,
} from '../../merchants/business-status.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import { setAppearance, setRateLimits } from '../../merchants/manage-rules.ts';

let world: DashboardWorld;
let owner: Member;
let businessId: string;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  ({ businessId } = world.business.test.merchant);
});
after(async () => {
  await world.stop();
});

/** The hidden fields of a form, as a browser sends them. */
async function hiddenFields(member: Member, url: string): Promise<Record<string, string>> {
  const text = await (await member.get(url)).text();
  const found = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

/** Opens a form and sends it. */
async function send(member: Member, path: string, fields: Record<string, string>): Promise<Response> {
  const url = world.at(path);
  return member.post(url, { ...(await hiddenFields(member, url)), ...fields });
}

interface Entry {
  action: string;
  changes: { field: string; before: string | null; after: string | null }[];
}

async function entriesOf(action: string): Promise<Entry[]> {
  const all = await asOwner<Entry>(world.service, 'SELECT action, changes FROM audit_entries ORDER BY id');
  return all.filter((entry) => entry.action === action);
}

const mails = () =>
  asOwner<{ recipient: string; subject: string }>(world.service, 'SELECT recipient, subject FROM mails');

const merchant = async () => {
  const found = await findMerchantById(world.service.db, world.business.test.merchant.id);
  assert.ok(found);
  return found;
};
const refundLimit = async () => (await getBusiness(world.service.db, businessId)).refundLimitMinor;

test('a settings form changes the setting and writes who, before and after; a refused one does neither', async () => {
  const finance = await world.signIn('finance');
  assert.equal((await send(finance, '/settings/checkout/fees', { fee_payer: 'customer' })).status, 303);
  assert.equal((await merchant()).collectionFee.payer, 'customer');
  assert.deepEqual(
    (await entriesOf('fee_payer.set')).map(({ changes }) => changes),
    [[{ field: 'fee_payer', before: 'business', after: 'customer' }]],
  );
  assert.equal((await send(finance, '/settings/checkout/fees', { fee_payer: 'nobody' })).status, 400);
  assert.equal((await send(finance, '/settings/checkout/fees', { fee_payer: 'customer' })).status, 303);
  assert.equal((await entriesOf('fee_payer.set')).length, 1, 'a change of nothing leaves no entry');
  const refused = await send(owner, '/settings/business/contact', {
    contact_phone: '12',
    contact_text: 'At the <i>till',
  });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /id="contact_phone-error"[\s\S]*value="At the &lt;i&gt;till"/);
  assert.deepEqual([(await merchant()).contactText, (await entriesOf('contact.set')).length], [null, 0]);
  const shown = await (await owner.get(world.at('/settings/checkout'))).text();
  assert.match(shown, /Changed by <bdi>Awa finance<\/bdi>, <time[^>]*>today/);
});

test('a logo is a PNG within its limit, sent as a form; another file changes nothing', async () => {
  const path = '/settings/business/logo';
  const upload = async (bytes: Uint8Array): Promise<Response> => {
    const form = new FormData();
    for (const [name, value] of Object.entries(await hiddenFields(owner, world.at(path)))) form.append(name, value);
    form.append('logo', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), 'logo.png');
    const headers = { cookie: owner.cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html' };
    return fetch(world.at(path), { method: 'POST', headers, body: form, redirect: 'manual' });
  };
  const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  assert.equal((await upload(Buffer.from('<svg onload=alert(1)>'))).status, 400);
  assert.equal((await upload(new Uint8Array(300_000))).status, 413);
  assert.equal((await merchant()).logoSetAt, null);
  assert.equal((await upload(Buffer.from(dot, 'base64'))).status, 303);
  assert.ok((await merchant()).logoSetAt);
  assert.equal((await entriesOf('logo.set')).length, 1);
});

test('payments and links without addresses take those of the settings, and counters none', async () => {
  const path = '/settings/checkout/urls';
  const refused = await send(owner, path, { 'data.return_url': 'javascript:alert(1)' });
  assert.match(await refused.text(), /id="data\.return_url-error"/);
  const urls = { 'data.return_url': 'https://shop.example/thanks', 'data.callback_url': 'http://127.0.0.1:9/own' };
  assert.equal((await send(owner, path, urls)).status, 303);
  assert.equal((await entriesOf('urls.set')).length, 1);
  const { api } = world;
  const create = async (data: Record<string, unknown>) => {
    const { body } = await api.post('/v1/payments', { data });
    return (await api.get(`/v1/payments/${String(body['payment_intent_id'])}`)).body;
  };
  // Processes read a merchant again after some seconds.
  await eventually('the settings apply', async () => (await create({ amount: 5 }))['return_url'] !== null);
  const shown = await create({ amount: 5, cancel_url: 'https://shop.example/basket' });
  const { return_url: returnUrl, cancel_url: cancelUrl, callback_url: callbackUrl } = shown;
  const expected = ['https://shop.example/thanks', 'https://shop.example/basket', 'http://127.0.0.1:9/own'];
  assert.deepEqual([returnUrl, cancelUrl, callbackUrl], expected);
  const own = await create({ amount: 5, return_url: 'https://shop.example/own' });
  assert.equal(own['return_url'], 'https://shop.example/own');
  const { body: terminal } = await api.post('/v1/virtual-terminals', { name: 'Till', chat_numbers: ['7012345'] });
  const screen = `/counters/${String(terminal['id'])}/screen/amount`;
  const { headers } = await send(owner, screen, { amount: '5' });
  const { body: atCounter } = await api.get(`/v1/payments/${headers.get('location')?.split('/').at(-1) ?? ''}`);
  assert.deepEqual([atCounter['amount'], atCounter['return_url']], [5, null]);
  assert.equal((await send(owner, path, { 'data.return_url': '', 'data.callback_url': '' })).status, 303);
  assert.equal((await merchant()).defaultReturnUrl, null);
});

test('of two who change a setting at once one does, and the other one’s page shows what was saved', async () => {
  const path = '/settings/business/contact';
  const other = await world.signIn('owner', { name: 'Isatou' });
  assert.equal((await send(owner, path, { contact_text: 'At the till' })).status, 303);
  const earlier = (await entriesOf('contact.set')).length;
  const { id } = await merchant();
  // Both have read the contact before either changes it.
  const held = Promise.withResolvers<void>();
  const holding = world.accounts.db.withTransaction(async (tx) => {
    await setAppearance(tx, id, { contactText: 'At the till' });
    await held.promise;
  });
  const texts = ['At the door', 'By the market'];
  const changes = Promise.all([owner, other].map((by, index) => send(by, path, { contact_text: texts[index] ?? '' })));
  await eventually('both wait', async () => (await countWaiting(world.service.db)) === 2);
  held.resolve();
  await holding;
  const responses = await changes;
  const saved = (await merchant()).contactText;
  assert.deepEqual(responses.map(({ status }) => status).toSorted(), [303, 409]);
  const refused = await responses.find(({ status }) => status === 409)?.text();
  assert.match(refused ?? '', new RegExp(`This press did nothing[^]*${saved}`));
  assert.deepEqual(
    (await entriesOf('contact.set')).slice(earlier).map(({ changes: fields }) => fields),
    [[{ field: 'contact_text', before: 'At the till', after: saved }]],
  );
});

test('the limit for refunds changes with the second factor only', async () => {
  const path = '/settings/limits/refunds';
  assert.equal((await send(owner, path, { refund_limit: '500' })).status, 400);
  assert.equal((await send(owner, path, { refund_limit: '500', second_factor: '000000' })).status, 400);
  assert.equal(await refundLimit(), null);
  const code = owner.code();
  assert.equal((await send(owner, path, { refund_limit: '1,250.50', second_factor: code })).status, 303);
  assert.equal(await refundLimit(), 125_050n);
  assert.equal((await entriesOf('refund_limit.set')).length, 1);
});

test('a second factor given with a form renews the session, and counts for five minutes and no longer', async () => {
  const path = '/settings/limits/refunds';
  const person = await world.signIn('owner', { name: 'Binta' });
  const { cookie: earlier } = person;
  const code = person.code();
  // The form comes back for its amount: the factor was right all the same.
  const refused = await send(person, path, { refund_limit: 'much', second_factor: code });
  assert.equal(refused.status, 400);
  assert.doesNotMatch(await refused.text(), /name="second_factor"/, 'it is not asked for twice');
  assert.notEqual(person.cookie, earlier);
  const { headers } = await fetch(world.at(path), { headers: { cookie: earlier }, redirect: 'manual' });
  assert.match(headers.get('location') ?? '', /^\/dashboard\/sign-in/, 'the token before is worth nothing');
  assert.equal((await send(person, path, { refund_limit: '700' })).status, 303);
  assert.equal(await refundLimit(), 70_000n);
  const invited = await send(person, '/settings/team/invite', { email: 'friend@example.gm', role: 'finance' });
  assert.equal(invited.status, 400, 'what asks each time still does');
  await asOwner(
    world.service,
    `UPDATE account_sessions SET second_factor_at = second_factor_at - interval '5 minutes' WHERE account_id = $1`,
    [person.account.id],
  );
  assert.equal((await send(person, path, { refund_limit: '9' })).status, 400);
  assert.equal(
    (await send(person, path, { refund_limit: '9', second_factor: code })).status,
    400,
    'a code counts once',
  );
  assert.equal(await refundLimit(), 70_000n);
});

test('role taken away: whoever lost it while the page was open does nothing with it', async () => {
  const second = await world.signIn('owner', { name: 'Lamin' });
  const url = world.at('/settings/team/invite');
  const sent = await hiddenFields(second, url);
  const { accounts } = world;
  const grant = { role: 'finance' as const, terminalIds: [] };
  await accounts.db.withTransaction((tx) =>
    changeRole(tx, accounts, { businessId, accountId: second.account.id, grant }),
  );
  const fields = { email: 'friend@example.gm', role: 'owner', second_factor: second.code() };
  const response = await second.post(url, { ...sent, ...fields });
  assert.equal(response.status, 403);
  assert.match(await response.text(), /Nothing was done/);
  assert.deepEqual(await listInvitations(accounts.db, businessId), []);
  assert.equal((await entriesOf('team.invite')).length, 0);
});

test('a cashier is invited to their own counters, by a mail, with an entry that names no whole address', async () => {
  const numbers = { chat_numbers: ['7012345'] };
  const front = await world.api.post('/v1/virtual-terminals', { name: 'Front', ...numbers });
  await world.api.post('/v1/virtual-terminals', { name: 'Back', ...numbers });
  const id = String(front.body['id']);
  const path = '/settings/team/invite';
  const fields = { email: 'Modou@example.gm', role: 'cashier' };
  const second = await world.signIn('owner', { name: 'Fatou' });
  const none = await send(second, path, { ...fields, second_factor: second.code() });
  assert.match(await none.text(), /Tick the counters/);
  const response = await send(second, path, { ...fields, [`counters.${id}`]: 'true', second_factor: second.code() });
  assert.equal(response.status, 303, await response.text());
  const [invitation] = await listInvitations(world.accounts.db, businessId);
  assert.deepEqual(
    [invitation?.email, invitation?.role, invitation?.terminalIds],
    ['modou@example.gm', 'cashier', [id]],
  );
  assert.equal((await mails()).filter(({ recipient }) => recipient === 'modou@example.gm').length, 1);
  const [entry] = await entriesOf('team.invite');
  assert.doesNotMatch(JSON.stringify(entry), /modou@/);
  assert.match(JSON.stringify(entry), /Front/);
});

test('of two owners who remove each other at once, one stays; a new owner is reported to all', async () => {
  const other = await world.service.onboard('Serekunda Shoes');
  const [one, two] = [
    await world.signIn('owner', { business: other, name: 'One' }),
    await world.signIn('owner', { business: other, name: 'Two' }),
  ];
  const base = `${world.service.url}/dashboard/test/${other.test.merchant.shortId}/settings/team`;
  const remove = async (by: Member, whom: Member) => {
    const url = `${base}/${whom.account.id}/remove`;
    return by.post(url, { ...(await hiddenFields(by, url)), second_factor: by.code() });
  };
  const responses = await Promise.all([remove(one, two), remove(two, one)]);
  const team = await listTeam(world.accounts.db, other.test.merchant.businessId);
  assert.deepEqual([team.length, team[0]?.role], [1, 'owner']);
  assert.equal(responses.filter(({ status }) => status === 303).length, 1);
  const finance = await world.signIn('finance', { business: other, name: 'Three' });
  const left = team[0]?.accountId === one.account.id ? one : two;
  const url = `${base}/${finance.account.id}/role`;
  const sent = { ...(await hiddenFields(left, url)), role: 'owner', second_factor: left.code() };
  assert.equal((await left.post(url, sent)).status, 303);
  const warned = (await mails())
    .filter(({ subject }) => subject.endsWith('there is a new owner'))
    .map(({ recipient }) => recipient);
  assert.deepEqual(warned.toSorted(), [left.account.email, finance.account.email].toSorted());
});

test('of two owners who change a role at once, one does, and the audit log says from which role', async () => {
  const other = await world.service.onboard('Brikama Bread');
  const [one, two] = [
    await world.signIn('owner', { business: other, name: 'One' }),
    await world.signIn('owner', { business: other, name: 'Two' }),
  ];
  const { account } = await world.signIn('developer', { business: other, name: 'Three' });
  const url = `${world.service.url}/dashboard/test/${other.test.merchant.shortId}/settings/team/${account.id}/role`;
  const { businessId: id } = other.test.merchant;
  // Both have read the role before either changes it.
  const held = Promise.withResolvers<void>();
  const holding = world.accounts.db.withTransaction(async (tx) => {
    await lockTeamAsOwner(tx, id, one.account.id);
    await held.promise;
  });
  const change = async (by: Member, role: string) =>
    by.post(url, { ...(await hiddenFields(by, url)), role, second_factor: by.code() });
  const changes = Promise.all([change(one, 'finance'), change(two, 'cashier')]);
  await eventually('both wait', async () => (await countWaiting(world.service.db)) === 2);
  held.resolve();
  await holding;
  const done = (await changes).filter(({ status }) => status === 303).length;
  const entries = await asOwner(
    world.service,
    `SELECT changes FROM audit_entries WHERE action = 'team.change_role' AND object_id = $1`,
    [account.id],
  );
  assert.deepEqual([done, entries.length], [1, 1]);
});

test('the export of the audit log has the rows of its filters, no formula, and an entry of its own', async () => {
  const formula = await world.signIn('owner', { name: '=HYPERLINK("x")' });
  assert.equal((await send(formula, '/settings/checkout/colour', { page_colour: '#8a1c4a' })).status, 303);
  assert.equal(
    (await send(formula, '/settings/checkout/colour', { page_colour: '#ffff00' })).status,
    400,
    'unreadable',
  );
  const response = await send(owner, '/audit/export?action=colour.set', {});
  assert.match(
    response.headers.get('content-disposition') ?? '',
    /attachment; filename="kairaba-books_test_audit_[\d-]+\.csv"/,
  );
  const [heading, row, ...others] = (await response.text()).trim().split('\r\n');
  assert.match(heading ?? '', /^time,environment,person,action/);
  assert.match(row ?? '', /,test,"'=HYPERLINK\(""x""\)",Set the colour on checkout,settings,.*Page colour: #8a1c4a/);
  assert.deepEqual(others, []);
  assert.equal((await entriesOf('audit.export')).length, 1);
  const developer = await world.signIn('developer');
  assert.equal((await developer.get(world.at('/audit/export'))).status, 403);
});

test('live is asked for once all is ready', async () => {
  const early = await send(owner, '/settings/live/request', {});
  assert.match(await early.text(), /This is to do first/);
  const live = world.at('/settings/business/contact', 'live');
  const contact = { ...(await hiddenFields(owner, live)), contact_phone: '7012345' };
  assert.equal((await owner.post(live, contact)).status, 303);
  const paid = { amount: 20, network: 'wave', account_number: '7000001' };
  await world.api.post('/v1/payments', { data: paid });
  await world.service.app.drain();
  assert.equal((await send(owner, '/settings/live/request', {})).status, 303);
  assert.ok((await getBusiness(world.service.db, businessId)).liveRequestedAt);
  assert.match(await (await owner.get(world.at('/settings', 'live'))).text(), /Live is not open yet: you have asked/);
});

test('an approved business keeps its name; a suspended one gets no new payment, and is not approved', async () => {
  const { accounts } = world;
  const shoes = await world.service.onboard('Bakau Shoes');
  const { businessId: shoesId } = shoes.test.merchant;
  const suspend = () => accounts.db.withTransaction((tx) => suspendBusiness(tx, accounts, shoesId));
  const approve = () => accounts.db.withTransaction((tx) => approveLive(tx, accounts, shoesId));
  await suspend();
  await assert.rejects(suspend(), /suspended already\. Nothing was done/);
  await assert.rejects(approve(), /Nothing was done/);
  const api = createApiClient(world.service.url, shoes.test.key);
  const refused = await api.post('/v1/payments', { data: { amount: 20 } });
  assert.deepEqual([refused.status, refused.body['code']], [409, 'state_conflict']);
  assert.match(String(refused.body['message']), /suspended/);
  await accounts.db.withTransaction((tx) => liftSuspension(tx, shoesId));
  assert.equal((await getBusiness(accounts.db, shoesId)).suspendedAt, null);
  await approve();
  const rename = accounts.db.withTransaction((tx) => renameBusiness(tx, shoesId, 'Other'));
  await assert.rejects(rename, /approved this name/);
});

test('limits of amounts, requests and settlement stand in the settings, also those that the operator set', async () => {
  const { db } = world.service;
  const textOf = async (path: string) => (await (await owner.get(world.at(path))).text()).replaceAll(/<[^>]+>/g, ' ');
  const { id: merchantId } = world.business.test.merchant;
  await db.withTransaction((tx) => setRateLimits(tx, merchantId, { rateLimitPerSecond: 12n }));
  const limits = await textOf('/settings/limits');
  assert.match(limits, /Smallest payment\s+D1\.00\s+Largest payment\s+D1,000,000\.00/);
  assert.match(limits, /All API keys\s+12 requests a second/);
  assert.match(await textOf('/settings/payouts'), /can be paid out at once/);
});

test('settings, team and audit log are sound on a phone without scripts and on a dark desktop', async () => {
  // On each change `test/stories/portal-pages.test.ts` looks at every page of the routes.
  const paths = effort({
    usual: ['/settings'],
    long: ['', '/business', '/checkout', '/limits', '/live', '/team', '/team/invite'].map((path) => `/settings${path}`),
  });
  for (const view of [
    { width: 360, height: 740, scripts: false },
    { width: 1280, height: 800, dark: true },
  ]) {
    await using opened = await openPage({ visitor: owner, ...view });
    const { page } = opened;
    for (const path of [...paths, '/audit']) {
      await page.goto(world.at(path));
      assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, path);
      if (view.dark) assert.deepEqual(await accessibilityViolations(page), [], path);
    }
    await page.goto(world.at('/settings/payouts/schedule'));
    await page.getByLabel('Schedule').selectOption(view.dark ? 'weekly' : 'daily');
    await page.getByRole('button', { name: 'Save the schedule' }).click();
    await page.getByText(view.dark ? 'Every week, on Monday.' : 'Every day.').waitFor();
    await page.getByRole('link', { name: /Changed by Awa owner/ }).click();
    await page.locator('.entries').getByText('Set when sub-accounts are paid out').first().waitFor();
    assert.deepEqual(opened.pageErrors, []);
  }
});
