import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../test/harness/tables.ts';

let world: DashboardWorld;
let owner: Member;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
});
after(() => world.stop());

/** The hidden fields of a form, as a browser sends them. */
async function hiddenFields(url: string): Promise<Record<string, string>> {
  const text = await (await owner.get(url)).text();
  const found = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

const audited = () =>
  asOwner<{ action: string; changes: unknown; request_id: string }>(
    world.service,
    'SELECT action, changes, request_id FROM audit_entries ORDER BY id',
  );

test('two taps on one form create one payment and one audit entry, in which no number stands', async () => {
  const url = world.at('/payments/new');
  const fields = { 'data.amount': '1,250.50', 'data.title': 'Rice', 'data.customer_phone': '7001234' };
  const sent = { ...(await hiddenFields(url)), ...fields };
  const responses = await Promise.all([owner.post(url, sent), owner.post(url, sent)]);
  const [first, second] = responses.map(({ headers }) => headers.get('location'));
  assert.deepEqual([responses.map(({ status }) => status), second], [[303, 303], first]);
  const { body } = await world.api.get('/v1/payments');
  const [payment, ...others] = body['data'] as Record<string, unknown>[];
  assert.deepEqual([payment?.['amount'], payment?.['title'], others.length], [1250.5, 'Rice', 0]);
  const entries = (await audited()).filter(({ action }) => action === 'createPayment');
  assert.equal(entries.length, 1);
  assert.ok(!JSON.stringify(entries).includes('7001234'));
});

test('a refused form changes nothing, says why beside the field, and returns all that was typed', async () => {
  const url = world.at('/payments/new');
  const count = (await audited()).length;
  const sent = { ...(await hiddenFields(url)), 'data.amount': 'a lot', 'data.title': '<b>Rice</b>' };
  const response = await owner.post(url, sent);
  const text = await response.text();
  assert.equal(response.status, 400);
  assert.match(text, /id="data\.amount-error"/);
  assert.match(text, /value="a lot"/);
  assert.match(text, /value="&lt;b&gt;Rice&lt;\/b&gt;"/);
  const empty = await owner.post(url, { ...(await hiddenFields(url)), 'data.amount': '' });
  assert.match(await empty.text(), /“Amount in dalasi” is missing\./, 'in the words of the form, not of the API');
  const till = await world.api.post('/v1/virtual-terminals', { name: 'Till', chat_numbers: ['7012345'] });
  const screen = world.at(`/counters/${String(till.body['id'])}/screen/amount`);
  const noAmount = await owner.post(screen, { ...(await hiddenFields(screen)), amount: ' ' });
  assert.deepEqual([noAmount.status, /id="amount-error"/.test(await noAmount.text())], [400, true]);
  assert.equal((await audited()).length, count);
});

test('mass assignment: fields that a form does not have are ignored, whatever the API would take', async () => {
  const url = world.at('/payments/new');
  const extra = { 'data.metadata.order': '1', currency: 'USD', status: 'successful', sub_account: 'other' };
  const response = await owner.post(url, { ...(await hiddenFields(url)), 'data.amount': '5', ...extra });
  assert.equal(response.status, 303);
  const id = response.headers.get('location')?.split('/').at(-1) ?? '';
  const { body } = await world.api.get(`/v1/payments/${id}`);
  assert.deepEqual([body['currency'], body['status'], body['metadata']], ['GMD', 'requires_payment_method', {}]);
});

test('what has changed since the form was drawn is shown again, and nothing is done', async () => {
  const { body } = await world.api.post('/v1/payments', { data: { amount: 20 } });
  const url = world.at(`/payments/${String(body['payment_intent_id'])}/cancel`);
  const sent = await hiddenFields(url);
  await world.api.post(`/v1/payments/${String(body['payment_intent_id'])}/cancel`);
  const response = await owner.post(url, sent);
  assert.equal(response.status, 409);
  assert.match(await response.text(), /changed meanwhile, [^.]*\. This press did nothing/);
});

test('what another person has saved since a form was opened is shown, and not overwritten', async () => {
  const { api } = world;
  const destination = { settlement_code: 'wave', account_number: '7000001' };
  const members: { sub_account: string; percentage: number }[] = [];
  for (const name of ['Awa', 'Binta']) {
    const { body } = await api.post('/v1/sub-accounts', { name, percentage: 5, ...destination });
    members.push({ sub_account: String(body['id']), percentage: 10 });
  }
  const { body: group } = await api.post('/v1/sub-account-groups', { name: 'Teachers', members });
  const url = world.at(`/groups/${String(group['id'])}/edit`);
  const typed = (percentages: readonly string[]): Record<string, string> =>
    Object.fromEntries([
      ['name', 'Teachers'],
      ...members.flatMap((each, index) => [
        [`members.${index}.sub_account`, each.sub_account],
        [`members.${index}.percentage`, percentages[index] ?? ''],
      ]),
    ]) as Record<string, string>;
  const drawn = [await hiddenFields(url), await hiddenFields(url)];
  assert.equal((await owner.post(url, { ...drawn[0], ...typed(['25', '10']) })).status, 303);
  // The other form is drawn again in between, which must not make it newer.
  const longer = await (await owner.post(url, { ...drawn[1], ...typed(['10', '30']), more: 'members' })).text();
  const held = /name="held" value="([^"]*)"/.exec(longer)?.[1] ?? '';
  const stale = await owner.post(url, { ...drawn[1], held, ...typed(['10', '30']), 'members.2.percentage': '60' });
  const shown = await stale.text();
  assert.equal(stale.status, 409, shown);
  assert.match(shown, /This press did nothing[^]*name="members\.0\.percentage"[^>]*\svalue="25"/);
  assert.doesNotMatch(shown, /value="60"/, 'nothing that was typed stands among it');
  const { body: stored } = await api.get(`/v1/sub-account-groups/${String(group['id'])}`);
  const percentages = (stored['members'] as { percentage: number }[]).map(({ percentage }) => percentage);
  assert.deepEqual(percentages.toSorted(), [10, 25]);
  const again = { ...(await hiddenFields(url)), ...typed(['25', '30']) };
  assert.equal((await owner.post(url, again)).status, 303, 'once it was seen, it can be changed');
});

test('a setting whose form is pressed again says what was saved, and leads where the first press led', async () => {
  const url = world.at('/settings/limits/refunds');
  const sent = { ...(await hiddenFields(url)), refund_limit: '500' };
  const taps = [await owner.post(url, { ...sent, second_factor: owner.code() }), await owner.post(url, sent)];
  assert.deepEqual(
    taps.map(({ status, headers }) => [status, headers.get('location')]),
    [0, 1].map(() => [303, new URL(world.at('/settings/limits')).pathname]),
  );
  assert.equal((await audited()).filter(({ action }) => action === 'refund_limit.set').length, 1);
  const other = await owner.post(url, { ...sent, refund_limit: '700' });
  assert.equal(other.status, 409);
  assert.match(await other.text(), /Refunds above D500\.00[^]*name="refund_limit"[^>]*\svalue="500\.00"/);
});

test('a second press of a button leads where the first one led, also after a switch and a deletion', async () => {
  const { api } = world;
  const { body: link } = await api.post('/v1/payment-links', { data: { title: 'Lessons' } });
  const { body: customer } = await api.post('/v1/customers', { name: 'Awa' });
  const linkPath = `/links/${String(link.id)}`;
  for (const [path, leadsTo] of [
    [`${linkPath}/switch`, linkPath],
    [`/customers/${String(customer.id)}/delete`, '/customers'],
    [`${linkPath}/delete`, '/links'],
  ] as const) {
    const url = world.at(path);
    const sent = await hiddenFields(url);
    const count = (await audited()).length;
    const taps = [await owner.post(url, sent), await owner.post(url, sent)];
    const locations = taps.map(({ headers }) => headers.get('location'));
    assert.deepEqual(locations, [new URL(world.at(leadsTo)).pathname, new URL(world.at(leadsTo)).pathname], path);
    assert.equal((await audited()).length, count + 1, path);
  }
});

test('an authenticator app is removed and reported once, also where its button is pressed again', async () => {
  const member = await world.signIn('finance');
  const at = (path: string): string => `${member.url}/dashboard${path}`;
  assert.equal((await member.post(at('/second-factor'), { second_factor: member.code() })).status, 303);
  for (const press of ['first', 'second']) {
    assert.equal((await member.post(at('/account/app/remove'))).headers.get('location'), '/dashboard/account', press);
  }
  assert.equal((await audited()).filter(({ action }) => action === 'login.remove_factor').length, 1);
});

test('a form that was sent and comes back with other content does nothing, says so, and keeps the content', async () => {
  const url = world.at('/links/new');
  const sent = { ...(await hiddenFields(url)), 'data.title': 'One' };
  assert.equal((await owner.post(url, sent)).status, 303);
  const other = await owner.post(url, { ...sent, 'data.title': 'Other' });
  const text = await other.text();
  assert.equal(other.status, 409);
  assert.match(text, /What it says now was not done/);
  assert.match(text, /value="Other"/);
  assert.equal((await world.api.get('/v1/payment-links?term=Other')).text.includes('"total":0'), true);
});

test('a record’s own data is added line by line without scripts, and what is not touched keeps its type', async () => {
  const { body } = await world.api.post('/v1/customers', { name: 'Awa', metadata: { pupils: 3, form: '2b' } });
  const url = world.at(`/customers/${String(body.id)}/edit`);
  const drawn = await (await owner.get(url)).text();
  assert.match(drawn, /<details open>/);
  const typed = {
    ...{ name: 'Awa', 'metadata.0.name': 'pupils', 'metadata.0.value': '3' },
    ...{ 'metadata.1.name': 'form', 'metadata.1.value': '3a' },
  };
  const longer = await owner.post(url, { ...(await hiddenFields(url)), ...typed, more: 'metadata' });
  assert.match(await longer.text(), /name="metadata\.2\.name"/);
  const unnamed = await owner.post(url, { ...(await hiddenFields(url)), ...typed, 'metadata.2.value': '7001234' });
  assert.match(await unnamed.text(), /id="metadata\.2\.name-error"/);
  const added = { 'metadata.2.name': 'code', 'metadata.2.value': '0042' };
  assert.equal((await owner.post(url, { ...(await hiddenFields(url)), ...typed, ...added })).status, 303);
  const { body: stored } = await world.api.get(`/v1/customers/${String(body.id)}`);
  assert.deepEqual(stored['metadata'], { pupils: 3, form: '3a', code: '0042' });
});

test('a customer’s stored number is in no form: left empty it stays, typed it changes, ticked it goes', async () => {
  const { body } = await world.api.post('/v1/customers', { name: 'Awa', phone: '7936412', email: 'awa@shop.example' });
  const url = world.at(`/customers/${String(body.id)}/edit`);
  const edited = async (typed: Record<string, string>): Promise<unknown[]> => {
    assert.doesNotMatch(await (await owner.get(url)).text(), /7936412|value="awa@/);
    assert.equal((await owner.post(url, { ...(await hiddenFields(url)), name: 'Awa', ...typed })).status, 303);
    const { body: stored } = await world.api.get(`/v1/customers/${String(body.id)}`);
    return [stored['phone'], stored['email']];
  };
  const [phone, email] = [body['phone'], body['email']];
  assert.deepEqual(await edited({ phone: '', email: '' }), [phone, email]);
  assert.deepEqual(await edited({ phone: '', email: 'awa@home.example' }), [phone, 'awa@home.example']);
  assert.deepEqual(await edited({ phone: '', remove_phone: 'true', remove_email: 'true' }), [null, null]);
});

test('a form whose record is not there says so within the navigation, also when it is sent', async () => {
  const url = world.at('/customers/01a1f8ac-4b37-7417-9fed-11d78420f713/edit');
  for (const response of [await owner.get(url), await owner.post(url, { name: 'Awa' })]) {
    assert.equal(response.status, 404);
    assert.match(await response.text(), /<nav[^]*<h1>Not found<\/h1>/);
  }
});

test('an address without a page says so in the words of the dashboard, and leads to its first page', async () => {
  const response = await owner.get(world.at('/nothing-here'));
  const text = await response.text();
  assert.equal(response.status, 404);
  assert.match(text, /<a class="button" href="\/dashboard">Go to the first page<\/a>/);
  assert.doesNotMatch(text, /payment|paid|Français/i);
  assert.equal((await owner.get(`${world.service.url}/dashboard`)).status, 303, 'the start is there');
});
