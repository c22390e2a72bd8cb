import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../test/harness/dashboard-world.ts';
import { accessibilityViolations, openPage } from '../../../test/harness/browser.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { effort } from '../../../test/harness/effort.ts';

let world: DashboardWorld;
let owner: Member;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
});
after(() => world.stop());

/** The hidden fields of a form, as a browser sends them. */
function hiddenOf(text: string): Record<string, string> {
  const found = text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
}

async function hiddenFields(url: string): Promise<Record<string, string>> {
  return hiddenOf(await (await owner.get(url)).text());
}

async function created(path: string, body: object): Promise<string> {
  const response = await world.api.post(path, body);
  assert.equal(response.status, 201, JSON.stringify(response.body));
  return String(response.body['id']);
}

const subAccount = (name: string): Promise<string> =>
  created('/v1/sub-accounts', { name, percentage: 20, settlement_code: 'wave', account_number: '7000001' });

const counter = (name: string): Promise<string> =>
  created('/v1/virtual-terminals', { name, chat_numbers: ['7012345'] });

async function pay(amount: number, fields: object = {}): Promise<void> {
  const data = { amount, network: 'aps', account_number: '7000001', ...fields };
  assert.equal((await world.api.post('/v1/payments', { data })).status, 201);
  await world.service.app.drain();
}

const countMails = async (): Promise<number> => (await asOwner(world.service, 'SELECT 1 AS one FROM mails')).length;

test('a destination changes only with a second factor for that change, and all owners get a mail', async () => {
  const id = await subAccount('Landlord');
  const url = world.at(`/sub-accounts/${id}/destination`);
  const second = await world.signIn('owner');
  const read = async () => (await world.api.get(`/v1/sub-accounts/${id}`)).body['account_number'];
  const sent = { ...(await hiddenFields(url)), settlement_code: 'aps', account_number: '7009999' };
  const mails = await countMails();
  for (const factor of [{}, { second_factor: '000000' }]) {
    const refused = await owner.post(url, { ...sent, ...factor });
    assert.equal(refused.status, 400);
    assert.match(await refused.text(), /value="7009999"/);
  }
  assert.deepEqual([await read(), await countMails()], ['7000001', mails]);
  const code = owner.code();
  assert.equal((await owner.post(url, { ...sent, second_factor: code })).status, 303);
  assert.deepEqual([await read(), await countMails()], ['7009999', mails + 2], `also ${second.account.email}`);
  const again = { ...(await hiddenFields(url)), settlement_code: 'aps', account_number: '7008888' };
  assert.equal((await owner.post(url, { ...again, second_factor: code })).status, 400, 'a code counts once');
  assert.equal((await owner.post(url, again)).status, 400, 'an earlier one does not count');
  const entries = await asOwner<{ changes: unknown }>(
    world.service,
    `SELECT changes FROM audit_entries WHERE action = 'updateSubAccount' AND object_id = $1`,
    [id],
  );
  assert.equal(entries.length, 1);
  assert.ok(!JSON.stringify(entries).includes('7009999'));
});

test('a cashier sees the own counters and no others, and prints and changes none', async () => {
  const [own, other] = [await counter('Front counter'), await counter('Back counter')];
  const cashier = await world.signIn('cashier', { terminalIds: [own] });
  const list = await (await cashier.get(world.at('/counters'))).text();
  assert.match(list, /Front counter/);
  assert.doesNotMatch(list, /Back counter/);
  const statusOf = async (path: string) => (await cashier.get(world.at(path))).status;
  assert.deepEqual([await statusOf(`/counters/${own}`), await statusOf(`/counters/${own}/day`)], [200, 200]);
  assert.deepEqual([await statusOf(`/counters/${other}`), await statusOf(`/counters/${other}/day`)], [404, 404]);
  for (const path of ['poster', 'poster/file', 'edit', 'switch', 'delete']) {
    assert.equal(await statusOf(`/counters/${own}/${path}`), 403, path);
  }
  for (const path of ['/balance', '/balance/statement.csv', '/links', '/sub-accounts', '/groups']) {
    assert.equal(await statusOf(path), 403, path);
  }
  assert.doesNotMatch(await (await cashier.get(world.at(`/counters/${own}`))).text(), /701 ?2345/);
});

test('two taps on a payout pay once; after a change of the balance nothing is paid, and it is shown', async () => {
  const id = await subAccount('Partner shop');
  await pay(1000, { sub_account: id });
  const url = world.at(`/sub-accounts/${id}/payout?amount=50`);
  const page = await (await owner.get(url)).text();
  assert.match(page, /Pay out D50\.00/);
  assert.match(page, /D150\.00/, 'the balance after it');
  const sent = hiddenOf(page);
  const drawnBefore = hiddenOf(await (await owner.get(url)).text());
  const taps = await Promise.all([owner.post(url, sent), owner.post(url, sent)]);
  // A third one, long after, leads there too.
  const responses = [...taps, await owner.post(url, sent)];
  assert.deepEqual(
    responses.map(({ status }) => status),
    [303, 303, 303],
  );
  assert.equal(new Set(responses.map(({ headers }) => headers.get('location'))).size, 1);
  const payouts = await asOwner(world.service, 'SELECT id FROM transfers WHERE sub_account_id = $1', [id]);
  assert.equal(payouts.length, 1);
  const later = await owner.post(url, drawnBefore);
  assert.equal(later.status, 409);
  assert.match(await later.text(), /D100\.00/);
  const empty = await (await owner.get(world.at(`/sub-accounts/${await subAccount('New one')}/payout`))).text();
  assert.match(empty, /needs at least D10\.00/);
  assert.doesNotMatch(empty, /<form method="post"/);
});

test('the statement adds up to the balance; its CSV has the same lines and no cell that is a formula', async () => {
  await pay(450.5, { title: '=HYPERLINK("http://evil.gm")' });
  await pay(80, { title: 'Rice, two bags' });
  const payout = { amount: 25, network: 'wave', account_number: '7000001', beneficiary_name: 'Awa' };
  assert.equal((await world.api.post('/v1/transfers', payout, { 'idempotency-key': 'statement' })).status, 201);
  await world.service.app.drain();
  const { body } = await world.api.get('/v1/balances');
  const balance = Number(body['payout_balance']).toFixed(2);
  const response = await owner.get(world.at('/balance/statement.csv'));
  const day = world.service.clock.now().toISOString().slice(0, 10);
  const name = `kairaba-books_test_balance_${day.slice(0, 7)}-01_${day}.csv`;
  assert.equal(response.headers.get('content-disposition'), `attachment; filename="${name}"`);
  const text = await response.clone().text();
  const bytes = Buffer.from(await response.arrayBuffer());
  assert.equal(bytes.subarray(0, 7).toString(), '\ufefftime', 'as a spreadsheet tells UTF-8 from its own encoding');
  assert.match(text, /"'=HYPERLINK\(""http:\/\/evil\.gm""\)"/);
  const rows = text.trimEnd().split('\r\n').slice(1);
  const cells = rows.map((row) => row.split(','));
  const hundredths = (amount = ''): bigint => BigInt(amount.replace('.', '') || '0');
  const sum = cells.slice(1, -1).reduce((total, [, , amount]) => total + hundredths(amount), 0n);
  assert.deepEqual([hundredths(cells[0]?.[3]) + sum, cells.at(-1)?.[3]], [hundredths(balance), balance]);
  const page = await (await owner.get(world.at('/balance/statement'))).text();
  const lines = [...page.matchAll(/<td class="number wide">D([\d,.]+)<\/td>/g)].map(([, shown = '']) => shown);
  assert.deepEqual(
    lines.map((shown) => shown.replaceAll(',', '')),
    cells.slice(1, -1).map(([, , , after]) => after),
  );
  assert.ok(lines.length >= 4);
});

test('a poster is shown in the page, and each format and size is a download of its own name', async () => {
  const till = await counter('Front counter');
  const url = world.at(`/counters/${till}/poster`);
  const [shown = ''] =
    /(?<=<img src=")[^"]+/.exec(await (await owner.get(`${url}?size=sticker&language=fr`)).text()) ?? [];
  const read = async (path: string) => (await owner.get(path)).headers;
  const picture = await read(world.service.url + shown.replaceAll('&amp;', '&'));
  assert.equal(picture.get('content-type'), 'image/svg+xml');
  assert.match(picture.get('content-disposition') ?? '', /^inline; filename="poster-\d{7}-sticker\.svg"$/);
  const file = await read(`${url}/file?size=a5&format=pdf`);
  assert.equal(file.get('content-type'), 'application/pdf');
  assert.match(file.get('content-disposition') ?? '', /^attachment; filename="poster-\d{7}-a5\.pdf"$/);
});

test('without scripts a group gets another row, loses nothing that was typed, and is made once complete', async () => {
  const [first, second, third] = [await subAccount('One'), await subAccount('Two'), await subAccount('Three')];
  const url = world.at('/groups/new');
  const typed = {
    ...{ name: 'Term <fees>', 'members.0.sub_account': first, 'members.0.percentage': '30' },
    // An empty row between two: the rows move up.
    ...{ 'members.1.sub_account': '', 'members.1.percentage': '', 'members.2.sub_account': second },
    'members.2.percentage': '12.5',
  };
  const more = await owner.post(url, { ...(await hiddenFields(url)), ...typed, more: 'members' });
  const drawn = await more.text();
  assert.match(drawn, /name="members\.2\.sub_account"/);
  for (const value of ['Term &lt;fees&gt;', '30', '12.5']) assert.ok(drawn.includes(`value="${value}"`), value);
  const tooMuch = { 'members.2.sub_account': third, 'members.2.percentage': '90' };
  const complete = { ...hiddenOf(drawn), ...typed, 'members.1.sub_account': second, 'members.1.percentage': '12.5' };
  const refused = await owner.post(url, { ...complete, ...tooMuch });
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /sum to 132\.5/);
  const done = await owner.post(url, { ...complete, ...tooMuch, 'members.2.percentage': '5' });
  assert.equal(done.status, 303);
  const { body } = await world.api.get(
    `/v1/sub-account-groups/${done.headers.get('location')?.split('/').at(-1) ?? ''}`,
  );
  const members = body['members'] as { sub_account: string; percentage: number }[];
  assert.deepEqual(
    members.map(({ sub_account: id, percentage }) => [id, percentage]),
    [
      [first, 30],
      [second, 12.5],
      [third, 5],
    ],
  );
});

test('in a browser pages fit a phone without scripts, and have no axe violation in the dark', async () => {
  const sub = await subAccount('A partner shop with a name that is as long as names of shops get');
  const group = await created('/v1/sub-account-groups', {
    name: 'Fees',
    members: [{ sub_account: sub, percentage: 60 }],
  });
  const link = await created('/v1/payment-links', {
    data: { title: 'School fees', custom_fields: ['Student'], sub_account_group: group },
  });
  const till = await counter('Front counter');
  await pay(1_000_000, { sub_account: sub });
  const pages = [
    ...[
      '/links',
      '/links/new',
      `/links/${link}`,
      `/links/${link}/edit`,
      `/links/${link}/switch`,
      `/links/${link}/delete`,
    ],
    ...['/counters', '/counters/new', `/counters/${till}`, `/counters/${till}/edit`, `/counters/${till}/poster`],
    ...[`/counters/${till}/day`, `/counters/${till}/switch`, `/counters/${till}/delete`],
    ...['/sub-accounts', '/sub-accounts/new', `/sub-accounts/${sub}`, `/sub-accounts/${sub}/edit`],
    ...['destination', 'payout', 'waive', 'delete'].map((each) => `/sub-accounts/${sub}/${each}`),
    ...['/groups', '/groups/new', `/groups/${group}`, `/groups/${group}/edit`, `/groups/${group}/delete`],
    ...['/balance', '/balance/movements', '/balance/statement'],
  ];
  // On each change `test/stories/portal-pages.test.ts` looks at every page of the routes.
  const paths = [`/payments?link=${link}`, ...effort({ usual: [], long: pages })];
  const faults: string[] = [];
  {
    await using opened = await openPage({ visitor: owner, scripts: false });
    for (const path of paths) {
      const response = await opened.page.goto(world.at(path));
      if (response?.status() !== 200) faults.push(`${path}: ${response?.status()}`);
      if (await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth'))
        faults.push(`${path} is wide`);
    }
    await opened.page.goto(world.at('/links/new'));
    await opened.page.fill('[name="data.title"]', 'Uniforms');
    await opened.page.fill('[name="data.custom_fields.0"]', 'Size');
    await opened.page.click('text=Add a field');
    await opened.page.fill('[name="data.custom_fields.1"]', 'Colour');
    await opened.page.click('.actions .button:has-text("Create the link")');
    assert.match((await opened.page.textContent('#content')) ?? '', /Uniforms[\s\S]*Size, Colour/);
  }
  await using opened = await openPage({ visitor: owner, width: 1280, height: 800, dark: true });
  for (const path of paths) {
    await opened.page.goto(world.at(path));
    faults.push(
      ...(await accessibilityViolations(opened.page)).map((each) => `${path}: ${each}`),
      ...opened.pageErrors,
    );
  }
  assert.deepEqual(faults, []);
});
