import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openDashboardWorld, type DashboardWorld, type Member } from '../../../test/harness/dashboard-world.ts';
import { asOwner } from '../../../test/harness/tables.ts';
import { addMs, dayMs, utcDay } from '../kit/clock.ts';

let world: DashboardWorld;
let owner: Member;

const customersCount = 60;
const formula = '=1+1';

before(async () => {
  world = await openDashboardWorld();
  owner = await world.signIn('owner');
  const { api } = world;
  for (let index = 0; index < customersCount; index += 1) {
    await api.post('/v1/customers', { name: index === 0 ? formula : `Customer ${index}` });
  }
  for (let index = 0; index < 2 * rowsPerPage; index += 1) {
    await api.post('/v1/payments', { data: { amount: 10 + index } });
  }
  const subAccount = { name: formula, percentage: 20, settlement_code: 'wave', account_number: '7001234' };
  const { body: sub } = await api.post('/v1/sub-accounts', subAccount);
  const members = [{ sub_account: sub.id, percentage: 10 }];
  await api.post('/v1/sub-account-groups', { name: formula, members });
  await api.post('/v1/payment-links', { data: { title: formula, amount: 75.5 } });
  await api.post('/v1/virtual-terminals', { name: formula, chat_numbers: ['7001234'] });
  const paid = { amount: 500, network: 'aps', account_number: '7000001', customer_name: 'Fatou Touray' };
  const { body: payment } = await api.post('/v1/payments', { data: paid });
  await world.service.app.drain();
  const charge = await api.get(`/v1/transactions/${String(payment.payment_intent_id)}`);
  await api.post('/v1/transactions/refund', { reference: charge.body.reference, amount: 12.34 });
  const payout = { amount: 98.76, network: 'wave', account_number: '7000001', beneficiary_name: formula };
  const { text } = await api.post('/v1/transfers', payout, { 'idempotency-key': 'payout' });
  assert.match(text, /"pending"/);
  await world.service.app.drain();
});
after(() => world.stop());

const rowsPerPage = 25;

interface ListedPage {
  ids: string[];
  count: string;
  older: string | null;
  newer: string | null;
}

async function open(path: string): Promise<ListedPage> {
  const address = path.startsWith('/dashboard') ? world.service.url + path : world.at(path);
  const response = await owner.get(address);
  const text = await response.text();
  assert.equal(response.status, 200, path);
  const link = (rel: string): string | null =>
    new RegExp(`rel="${rel}" href="([^"]+)"`).exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
  return {
    ids: [...text.matchAll(/<tr id="row-([^"]+)"/g)].map(([, id = '']) => id),
    count: /id="count">([^<]*)</.exec(text)?.[1] ?? '',
    older: link('next'),
    newer: link('prev'),
  };
}

/** The pages of a list from this one on. */
async function pagesFrom(first: ListedPage, to: 'older' | 'newer'): Promise<ListedPage[]> {
  const pages = [first];
  for (;;) {
    const next = pages.at(-1)?.[to] ?? null;
    if (next === null) return pages;
    const page = await open(next);
    // A list that does not know whether it is at its newest page says so by showing it once more.
    if (page.ids.join(',') === pages.at(-1)?.ids.join(',')) return pages;
    pages.push(page);
  }
}

test('a list leads to its end and back by the same pages, at any depth; what is no cursor is its newest', async () => {
  for (const path of ['/customers', '/payments', '/events', '/payments?status=requires_payment_method']) {
    const there = await pagesFrom(await open(path), 'older');
    const all = there.flatMap(({ ids }) => ids);
    assert.ok(there.length >= 2, path);
    assert.equal(new Set(all).size, all.length, path);
    const last = there.at(-1);
    assert.ok(last);
    const back = (await pagesFrom(last, 'newer')).toReversed().flatMap(({ ids }) => ids);
    assert.deepEqual(back, all, path);
    assert.equal(there[0]?.newer, null, path);
  }
  const newest = await open('/customers');
  assert.deepEqual((await open('/customers?cursor=nonsense')).ids, newest.ids);
  const newer = `newer:${newest.ids[3] ?? ''}`;
  assert.deepEqual((await open(`/customers?cursor=${newer}`)).ids, newest.ids, 'no short page');
  for (const cursor of ['nonsense', newer]) await open(`/balance/on-its-way?cursor=${cursor}`);
  const beforeAllTime = '-271821-04-20T00:00:00.000Z_01a1f8ac-4b37-7417-9fed-11d78420f713';
  assert.equal((await owner.get(world.at(`/figures/collected?range=today&cursor=${beforeAllTime}`))).status, 200);
});

test('the API leads back by a cursor too, and refuses one that is none', async () => {
  const list = async (query: string) => world.api.get(`/v1/customers?limit=7&${query}`);
  const idsOf = ({ body }: { body: Record<string, unknown> }) => (body['data'] as { id: string }[]).map(({ id }) => id);
  const first = idsOf(await list(''));
  const second = idsOf(await list(`cursor=${first.at(-1) ?? ''}`));
  assert.deepEqual(idsOf(await list(`cursor=newer:${second[0] ?? ''}`)), first);
  assert.equal((await list('cursor=newer:nonsense')).status, 400);
  assert.equal((await list(`offset=1&cursor=newer:${first[0] ?? ''}`)).status, 400);
});

test('the file of each list has the list’s rows in its order, the environment, and no formula', async () => {
  const lists = [
    ...['payments', 'transfers', 'refunds', 'customers', 'links', 'sub-accounts', 'groups', 'counters'],
    ...['events', 'endpoints', 'customers?term=Customer%201'],
  ];
  for (const list of lists) {
    const [name = '', filters = ''] = list.split('?');
    const ids = (await pagesFrom(await open(`/${list}`), 'older')).flatMap((page) => page.ids);
    assert.ok(ids.length > 0, list);
    const about = await (await owner.get(world.at(`/${name}/export?${filters}`))).text();
    assert.match(about, /href="[^"]*\/export\/file/, list);
    const response = await owner.get(world.at(`/${name}/export/file?${filters}`));
    assert.match(response.headers.get('content-disposition') ?? '', /_test_[a-z-]+_\d{4}-\d\d-\d\d\.csv"/, list);
    const [heading = '', ...rows] = (await response.text()).trimEnd().split('\r\n');
    const idColumn = heading.split(',').findIndex((header) => header.endsWith('_id'));
    assert.deepEqual(
      rows.map((row) => row.split(',')[idColumn]),
      ids,
      list,
    );
    assert.ok(
      rows.every((row) => row.startsWith('test,')),
      list,
    );
    assert.ok(!rows.some((row) => row.includes(`,${formula}`)), list);
  }
  const customers = await (await owner.get(world.at('/customers/export/file'))).text();
  assert.ok(customers.includes(`"'${formula}"`));
});

test('a list and its file keep the dates of the address; endpoints are found by address and description', async () => {
  const day = (days: number): string => utcDay(addMs(world.service.clock.now(), days * dayMs));
  for (const list of ['customers', 'links', 'sub-accounts', 'groups', 'counters', 'endpoints', 'events', 'payments']) {
    const { ids } = await open(`/${list}`);
    assert.deepEqual((await open(`/${list}?from=${day(-1)}&to=${day(0)}`)).ids, ids, list);
    for (const none of [`from=${day(1)}`, `to=${day(-1)}`]) {
      assert.deepEqual((await open(`/${list}?${none}`)).ids, [], `${list} ${none}`);
      const file = await (await owner.get(world.at(`/${list}/export/file?${none}`))).text();
      assert.equal(file.trimEnd().split('\r\n').length, 1, `${list} ${none}`);
    }
  }
  const url = 'http://localhost:9/hooks';
  const { body } = await world.api.post('/v1/webhook-endpoints', { url, description: 'Stock room' });
  for (const term of ['localhost:9', 'stock']) {
    assert.deepEqual((await open(`/endpoints?term=${term}`)).ids, [String(body.id)], term);
  }
  const cashier = await world.signIn('cashier', { terminalIds: (await open('/counters')).ids });
  for (const [query, count] of [
    [`to=${day(0)}`, 1],
    [`from=${day(1)}`, 0],
  ] as const) {
    const own = await (await cashier.get(world.at(`/counters?${query}`))).text();
    assert.equal(own.split('<tr id="row-').length - 1, count, query);
  }
});

test('transfers, refunds and links are found by number in either form, name, reference and amount', async () => {
  const transfers = await open('/transfers');
  const refunds = await open('/refunds');
  const links = await open('/links');
  const { body: transfer } = await world.api.get(`/v1/transfers/${transfers.ids[0] ?? ''}`);
  const terms: [list: string, term: string][] = [
    ...['7000001', '87 700 0001', '98.76', 'D98.76', formula, String(transfer.reference)].map(
      (term): [string, string] => ['transfers', term],
    ),
    ...['7000001', '+220 87 700 0001', '12.34', 'fatou'].map((term): [string, string] => ['refunds', term]),
    ...['75.50', formula].map((term): [string, string] => ['links', term]),
  ];
  const idsOf: Record<string, string[]> = { transfers: transfers.ids, refunds: refunds.ids, links: links.ids };
  for (const [list, term] of terms) {
    const found = await open(`/${list}?term=${encodeURIComponent(term)}`);
    assert.deepEqual(found.ids, idsOf[list], `${list} ${term}`);
  }
  for (const [list, term] of terms) {
    const found = await (await owner.get(world.at(`/search?q=${encodeURIComponent(term)}`))).text();
    for (const id of idsOf[list] ?? []) {
      assert.ok(found.includes(`/${list}/${id}"`) || term === transfer.reference, `search ${list} ${term}`);
    }
  }
  const events = await open(`/events?term=${String(transfer.reference)}`);
  assert.ok(events.ids.length > 0);
  assert.deepEqual((await open(`/events?term=${transfers.ids[0] ?? ''}`)).ids, events.ids, 'by reference as by id');
  assert.deepEqual((await open('/transfers?term=98.77')).ids, []);
  assert.equal((await open('/transfers?term=98.76')).count, '1 transfer, D98.76');
});

test('customers are found by name, number, e-mail and id; a text only in the newest, as the page says', async () => {
  const contact = { name: 'Lamin Bojang', email: 'Lamin@shop.example', phone: '7012345' };
  const { body: lamin } = await world.api.post('/v1/customers', contact);
  const id = String(lamin.id);
  const terms = ['lamin b', 'SHOP.EXAMPLE', 'lamin@shop.example', '7012345', '+220 87 701 2345', '70123', id];
  const merchantId = `(SELECT merchant_id FROM customers WHERE id = '${id}')`;
  const findAll = async () => {
    for (const term of terms)
      assert.deepEqual((await open(`/customers?term=${encodeURIComponent(term)}`)).ids, [id], term);
  };
  await findAll();
  const page = async (query: string) => (await owner.get(world.at(`/customers?${query}`))).text();
  assert.doesNotMatch(await page('term=lamin'), /id="newest-only"/);
  await asOwner(
    world.service,
    `INSERT INTO customers (merchant_id, id, name, metadata, event_sequence, created_at, updated_at)
     SELECT ${merchantId}, ('0160af04-9000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, 'Old ' || n, '{}', 1,
       '2018-01-01', '2018-01-01' FROM generate_series(1, 10000) AS n`,
  );
  await findAll();
  assert.match(await page('term=lamin'), /id="newest-only">Searched in the newest 10,000 customers\. Choose dates/);
  assert.match(await page('term=old+1'), /id="newest-only"/);
  assert.deepEqual((await open('/customers?term=old+1')).count.split(' ')[1], 'customers');
  assert.deepEqual(
    (await open(`/customers?term=0160af04-9000-7000-8000-000000000001`)).ids.length,
    1,
    'an id at any age',
  );
  assert.deepEqual((await open('/customers?term=old+1&from=2018-01-01&to=2018-01-01')).count, '1,112 customers');
});
