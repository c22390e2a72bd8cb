import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCharge } from '../../../../test/harness/api-client.ts';
import { openOwnPage, openPage } from '../../../../test/harness/browser.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import type { Statement } from '../../kit/db.ts';
import { openDashboardWorld, type DashboardWorld } from '../../../../test/harness/dashboard-world.ts';

let world: DashboardWorld;

before(async () => {
  world = await openDashboardWorld();
  const paid = await createCharge(world.api);
  await world.service.app.drain();
  await multiplyPayments(paid, rowsMax);
});

after(() => world.stop());

const rowsMax = 12_500;
// The connection holds some megabytes while nobody reads, and the file shall be larger.
const titleLength = 800;

/** Payments like one that was paid, each with its own id and secrets; that one alone has a charge, and so an amount that was paid. */
async function multiplyPayments(id: string, rows: number): Promise<void> {
  await world.service.db.run({
    name: 'multiply_payments',
    text: `INSERT INTO payment_intents SELECT copy.* FROM payment_intents AS paid, generate_series(1, $3::int) AS number,
             LATERAL jsonb_populate_record(paid, jsonb_build_object(
               'id', uuidv7(), 'intent_secret', md5(number::text) || md5(paid.id::text),
               'checkout_token', 'copy' || number, 'title', rpad('Order ' || number || ' ', $4::int, 'x'))) AS copy
           WHERE paid.merchant_id = $1 AND paid.id = $2`,
    values: [world.business.test.merchant.id, id, rows, titleLength],
  });
}

test('the file of 12,500 payments is the list: every row once, in chunks, one at a time', async () => {
  const title = '=HYPERLINK("https://evil.example")';
  await world.api.post('/v1/payments', { data: { amount: 250.5, title } });
  await world.service.app.drain();
  const owner = await world.signIn('owner');
  const about = await (await owner.get(world.at('/payments/export'))).text();
  assert.match(about, /12,502 payments, D100\.00 paid, about [\d.]+ MB/);
  const response = await owner.get(world.at('/payments/export/file?to=2026-12-31'));
  assert.match(response.headers.get('content-disposition') ?? '', /"[a-z-]+_test_payments_2026-12-31\.csv"/);
  assert.equal((await owner.get(world.at('/payments/export/file'))).status, 429, 'one at a time');
  assert.match(await (await owner.get(world.at('/payments/export/progress'))).text(), /of 12,502 payments sent/);
  assert.ok(response.body);
  let chunkMax = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of response.body) {
    chunks.push(Buffer.from(chunk));
    chunkMax = Math.max(chunkMax, chunk.length);
  }
  const [heading, ...rows] = Buffer.concat(chunks).toString().trimEnd().split('\r\n');
  assert.match(heading ?? '', /^\ufeffenvironment,created_at,payment_id,/);
  assert.equal(rows.length, rowsMax + 2);
  assert.equal(new Set(rows.map((row) => row.split(',')[2])).size, rows.length);
  assert.ok(rows.every((row) => row.startsWith('test,')));
  assert.equal(rows.filter((row) => row.includes(',Paid,100.00,')).length, rowsMax + 1);
  assert.ok(rows.some((row) => row.includes(`"'=HYPERLINK(""https`)));
  assert.ok(chunkMax < 1_000_000, `a chunk of ${chunkMax} bytes`);
  const filtered = await owner.get(world.at('/payments/export/file?status=requires_payment_method'));
  assert.equal((await filtered.text()).trimEnd().split('\r\n').length, 2);
  const abandoned = await owner.get(world.at('/payments/export/file'));
  await abandoned.body?.cancel();
  const cashier = await world.signIn('cashier');
  assert.equal((await cashier.get(world.at('/payments/export/file'))).status, 403);
});

test('a HEAD for a file reads nothing of it, and is no export', async () => {
  const owner = await world.signIn('owner');
  const { db } = world.service;
  const { rows: read } = db;
  let pages = 0;
  const counting = <Row>(statement: Statement): Promise<Row[]> => {
    if (statement.name.startsWith('payment_intents')) pages += 1;
    return read.call(db, statement) as Promise<Row[]>;
  };
  Object.assign(db, { rows: counting });
  try {
    const init = { method: 'HEAD', headers: { cookie: owner.cookie } };
    const response = await fetch(world.at('/payments/export/file'), init);
    assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/csv; charset=utf-8']);
  } finally {
    Object.assign(db, { rows: read });
  }
  assert.equal(pages, 0);
  const exported = await asOwner(world.service, 'SELECT 1 FROM audit_entries WHERE actor_id = $1 AND action LIKE $2', [
    owner.account.id,
    '%export%',
  ]);
  assert.equal(exported.length, 0);
});

test('while a file is downloaded, its page shows how far it is, and nothing once it is complete', async () => {
  const owner = await world.signIn('owner');
  await using opened = await openPage({ visitor: owner });
  const { page, pageErrors } = opened;
  await page.goto(world.at('/payments/export'));
  const progress = page.getByRole('status');
  assert.equal(await progress.textContent(), '');
  // More than the connection holds while nobody reads.
  const file = await owner.get(world.at('/payments/export/file'));
  await progress.filter({ hasText: /^[\d,]+ of [\d,]+ payments sent…$/ }).waitFor();
  await file.text();
  await progress.filter({ hasText: /^$/ }).waitFor({ state: 'attached' });
  assert.deepEqual(pageErrors, []);
});

test('a printed list says of when it is and what it is narrowed to, and has all columns on wide paper', async () => {
  const owner = await world.signIn('owner');
  await using opened = await openOwnPage({ visitor: owner });
  const { page } = opened;
  await page.goto(world.at('/payments?status=successful&paid_from=2026-11-01'));
  const narrowed = page.getByText('State: Paid, Paid from: 2026-11-01.', { exact: true });
  assert.equal(await narrowed.isVisible(), false, 'on a screen the filters say so');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await narrowed.isVisible(), true);
  assert.equal(await page.getByText(/^Opened \d+ \w+ \d{4}, \d\d:\d\d$/).isVisible(), true);
  // A4, upright and across, without its margins.
  for (const [width, isWide] of [
    [718, false],
    [1_045, true],
  ] as const) {
    await page.setViewportSize({ width, height: 700 });
    assert.equal(await page.getByRole('columnheader', { name: 'Reference' }).isVisible(), isWide, `${width} px`);
    const [table, paper] = await page.evaluate<number[]>(
      `['table', 'html'].map((name) => document.querySelector(name).scrollWidth)`,
    );
    assert.ok(Number(table) > width * 0.9 && Number(paper) <= width, `${table} of ${width} px`);
  }
});
