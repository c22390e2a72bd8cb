import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accessibilityViolations, openPage } from '../../../../test/harness/browser.ts';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../../test/harness/dashboard-world.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { asOwner } from '../../../../test/harness/tables.ts';

let world: DashboardWorld;
let owner: Member;
let terminalId: string;
let intentId: string;

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  const { body: terminal } = await world.api.post('/v1/virtual-terminals', {
    name: 'Front counter',
    chat_numbers: ['7012345'],
  });
  terminalId = String(terminal['id']);
  const pay = async (amount: number, title: string): Promise<string> => {
    const data = { amount, title, network: 'aps', account_number: '7000001' };
    const { status, body, text } = await world.api.post('/v1/payments', { data });
    assert.equal(status, 201, text);
    return String(body['payment_intent_id']);
  };
  intentId = await pay(1250, 'Order 1042');
  await pay(1000000, 'Exercise books for every class of the Bakau Lower Basic School');
  await eventually('the payments are paid', async () => {
    const { body } = await world.api.get('/v1/payments?status=successful');
    return (body['data'] as unknown[]).length === 2;
  });
});
after(() => world.stop());

const textOf = async (path: string, member = owner): Promise<string> => (await member.get(world.at(path))).text();

/** Adds up the amounts of a page's list. */
function sumOf(text: string): number {
  const list = text.slice(text.indexOf('<table'));
  const amounts = [...list.matchAll(/class="first">(-?)D([\d,.]+)</g)];
  return amounts.reduce((sum, [, sign, amount = '']) => sum + Number(`${sign}${amount.replaceAll(',', '')}`), 0);
}

test('each figure leads to a list that adds up to it, by range, day and network', async () => {
  const home = await textOf('');
  const collected = 'D1,001,250.00';
  assert.match(home, new RegExp(`Today</dt><dd><a href="[^"]+">${collected}`));
  const links = [...home.matchAll(/href="[^"]+(\/figures\/[^"]+)"[^>]*>(?:<bdi>)?(D[\d,.]+|APS)/g)];
  assert.ok(links.length >= 6, `${links.length} figures`);
  for (const [, path = '', shown = ''] of links) {
    const page = await textOf(path.replaceAll('&amp;', '&'));
    const expected = shown === 'APS' ? collected : shown;
    const total = /<strong>[^<]*?(D[\d,.]+)/.exec(page)?.[1] ?? 'D0.00';
    assert.equal(total, expected, path);
    assert.equal(sumOf(page), Number(expected.replaceAll(/[D,]/g, '')), path);
  }
  for (const range of ['7', '30', '365']) {
    const page = await textOf(`/figures/collected?range=${range}`);
    assert.ok(page.includes(`<strong>${collected}, 2 paid</strong>`), range);
    const rows = page.slice(page.indexOf('by day</caption>')).match(/<th scope="row">/g) ?? [];
    assert.equal(rows.length, Number(range));
  }
});

test('what needs attention is on top with where to act, and nothing where nothing is wrong', async () => {
  assert.doesNotMatch(await textOf(''), /class="attention"/);
  const { merchant } = world.business.test;
  const { body: endpoint } = await world.api.post('/v1/webhook-endpoints', { url: 'http://127.0.0.1:9/own' });
  const endpointId = String(endpoint['id']);
  await asOwner(
    world.service,
    `INSERT INTO webhook_endpoint_health (merchant_id, endpoint_id, failing_since, last_failure, event_sequence)
     VALUES ($1, $2, now(), '500', 0)
     ON CONFLICT (merchant_id, endpoint_id) DO UPDATE SET failing_since = now(), last_failure = '500'`,
    [merchant.id, endpointId],
  );
  await asOwner(
    world.service,
    `INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency, summary, created_at)
     SELECT $1, gen_random_uuid(), 'amount_mismatch', 'open', 'charge', id, 'x', 10100, 'GMD', '', now()
     FROM charges WHERE merchant_id = $1 AND intent_id = $2`,
    [merchant.id, intentId],
  );
  await asOwner(
    world.service,
    `INSERT INTO sub_accounts (merchant_id, id, name, percent_hundredths, settlement_code, account_number,
       account_canonical, active, created_at, updated_at)
     VALUES ($1, '00000000-0000-7000-8000-000000000001', 'Partner shop', 1000, 'gone', '', '', true, now(), now())`,
    [merchant.id],
  );
  await asOwner(
    world.service,
    `INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance) VALUES
     ($1, 'sub:00000000-0000-7000-8000-000000000001', 'GMD', 'sub', 32000),
     ($1, 'receivable_merchant', 'GMD', 'receivable_merchant', 7800)
     ON CONFLICT (merchant_id, account, currency) DO UPDATE SET balance = excluded.balance`,
    [merchant.id],
  );
  await asOwner(
    world.service,
    `INSERT INTO circuit_breakers (network, test_mode, rail_account, scope, state, reason, opened_at, retry_at,
       failed_trials, failures_in_a_row, failed_merchants, version, updated_at)
     VALUES ('wave', true, 'wave-test', '', 'open', 'float_empty', now(), now() + interval '1 hour', 0, 1, '{}', 1, now())`,
  );
  // A process's copy of the breakers is at most a second old.
  await eventually('the paused network is shown', async () => (await textOf('')).includes('has taken no payouts'));
  const lines = (await textOf('')).match(/<li class="notice.*?<\/li>/gs) ?? [];
  const expected = [
    [/You owe D78\.00/, '/balance'],
    [/127\.0\.0\.1:9.* has failed since/, `/endpoints/${endpointId}`],
    [/Partner shop.* has D320\.00 and no number/, '/sub-accounts/00000000-0000-7000-8000-000000000001'],
    [/Wave.* has taken no payouts since .* held and follows/, '/transfers?status=pending'],
    [/D101\.00 of a payment is being checked/, `/payments/${intentId}`],
  ] as const;
  assert.equal(lines.length, expected.length, lines.join('\n'));
  for (const [index, [text, href]] of expected.entries()) {
    assert.match(lines[index] ?? '', text);
    assert.ok(lines[index]?.includes(`${href}"`), lines[index]);
  }
});

test('a cashier has no figures and is led to the counter, and the figures stay shut', async () => {
  const cashier = await world.signIn('cashier', { terminalIds: [terminalId] });
  const response = await cashier.get(world.at(''));
  assert.equal(response.status, 303);
  assert.ok(response.headers.get('location')?.endsWith(`/counters/${terminalId}/screen`));
  assert.equal((await cashier.get(world.at('/figures/collected'))).status, 403);
});

test('a search opens a reference or id, and lists names, numbers and receipt codes by kind', async () => {
  const { body } = await world.api.get(`/v1/transactions/${intentId}`);
  const reference = String(body['transaction_reference']);
  await world.api.post('/v1/customers', { name: 'Awa Ceesay', phone: '7001234' });
  const search = (term: string, member = owner) => member.get(world.at(`/search?q=${encodeURIComponent(term)}`));
  for (const exact of [reference, reference.toLowerCase(), intentId]) {
    const opened = await search(exact);
    assert.ok(opened.headers.get('location')?.endsWith(`/payments/${intentId}`), exact);
  }
  const finds = [
    ['order 1042', 'Payments', 'Order 1042'],
    [reference.slice(-4).toLowerCase(), 'Payments', 'Order 1042'],
    ['awa', 'Customers', 'Awa Ceesay'],
    ['+220 700 1234', 'Customers', 'Awa Ceesay'],
    ['877001234', 'Customers', 'Awa Ceesay'],
    ['front', 'Counters', 'Front counter'],
  ] as const;
  for (const [term, kind, name] of finds) {
    const text = await (await search(term)).text();
    const group = text.slice(text.indexOf(`<h2>${kind}</h2>`));
    assert.ok(text.includes(`<h2>${kind}</h2>`) && group.includes(name), `${term} in ${kind}`);
  }
  const nothing = await (await search('no such thing')).text();
  const other = /href="([^"]+\/search\/other[^"]+)"/.exec(nothing)?.[1] ?? '';
  const led = await owner.get(new URL(other, world.service.url).href);
  assert.equal(led.headers.get('location'), `${new URL(world.at('/search', 'live')).pathname}?q=no%20such%20thing`);
  const cashier = await world.signIn('cashier', { terminalIds: [terminalId] });
  assert.equal((await search(reference, cashier)).status, 200);
  assert.ok(!(await (await search('Order 1042', cashier)).text()).includes(`/payments/${intentId}`));
});

test('a first visit of home is at most 60 KB compressed with everything, a later page 15 KB', async () => {
  const home = await textOf('?range=365');
  const files = [...home.matchAll(/(?:href|src)="(\/dashboard\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  assert.equal(files.length, 2);
  // As they travel: compressed by the service.
  const bytesOf = async (response: Response): Promise<number> => {
    assert.ok(response.headers.has('content-encoding'), response.url);
    await response.text();
    return Number(response.headers.get('content-length'));
  };
  const open = (url: string) => fetch(url, { headers: { cookie: owner.cookie } });
  const sizes = [await bytesOf(await open(world.at('?range=365')))];
  for (const file of files) sizes.push(await bytesOf(await open(world.service.url + file)));
  const total = sizes.reduce((sum, size) => sum + size);
  assert.ok(sizes.every((size) => size > 500) && total <= 60 * 1_024, `${sizes.join(' + ')} bytes`);
  for (const path of ['?range=365', '/figures/collected?range=365', '/figures/collected', '/search?q=order']) {
    const bytes = await bytesOf(await open(world.at(path)));
    assert.ok(bytes > 500 && bytes <= 15 * 1_024, `${path}: ${bytes} bytes`);
  }
});

test('home, figures and search are whole on a phone without scripts and dark, charts by keyboard', async () => {
  const paths = [
    '?range=today',
    '?range=365',
    '/figures/collected?range=30',
    '/figures/fees',
    '/search?q=order',
    '/search?q=nothing+here',
  ];
  const views = [
    { width: 360, height: 740, scripts: false },
    { width: 1280, height: 800, dark: true, scripts: true },
  ];
  for (const view of views) {
    await using opened = await openPage({ visitor: owner, ...view });
    for (const path of paths) {
      await opened.page.goto(world.at(path));
      const what = `${path} at ${view.width}`;
      if (view.scripts) assert.deepEqual(await accessibilityViolations(opened.page), [], what);
      const isWide = await opened.page.evaluate('document.documentElement.scrollWidth > innerWidth');
      assert.equal(isWide, false, what);
    }
    if (view.scripts) {
      await opened.page.goto(world.at('?range=7'));
      const chart = opened.page.locator('[data-chart]').first();
      await chart.locator('.plot').focus();
      await opened.page.keyboard.press('End');
      assert.match((await chart.locator('output').textContent()) ?? '', /: D1,001,250\.00, 2 paid$/);
      await opened.page.keyboard.press('ArrowLeft');
      assert.match((await chart.locator('output').textContent()) ?? '', /: D0\.00, 0 paid$/);
      await chart.locator('.point').last().hover();
      assert.match((await chart.locator('output').textContent()) ?? '', /: D1,001,250\.00, 2 paid$/);
    }
    assert.deepEqual(opened.pageErrors, []);
  }
});
