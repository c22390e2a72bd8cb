import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage } from '../../../../test/harness/browser.ts';
import { openConsoleWorld, type ConsoleWorld } from '../../../../test/harness/console-world.ts';
import { rawHead, sendRaw } from '../../../../test/harness/raw-request.ts';
import { asOwner } from '../../../../test/harness/tables.ts';
import { utcDay } from '../../kit/clock.ts';

let world: ConsoleWorld;

before(async () => {
  world = await openConsoleWorld();
});

after(() => world.stop());

test('an operator imports a statement, reconciles its day and sees all sides, with audit entries', async () => {
  const finance = await world.signInOperator('finance');
  await using opened = await openPage({ visitor: finance });
  const { page } = opened;
  const { service } = world.dashboard;
  const now = service.clock.now();
  const path = (rest: string) => `${service.url}/operator/test/reconciliation${rest}`;
  await page.goto(path('/import'));
  await page.getByLabel('Account at the network').selectOption('wave-test');
  const rows = [
    'transaction_id,timestamp,amount,fee,balance,name',
    `S-1,${now.toISOString()},25.50,,625.50,<b>Awa`,
    'S-2,x,1,,,',
  ];
  await page
    .getByLabel('File')
    .setInputFiles({ name: 'lines.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\n')) });
  await page.getByRole('button', { name: 'Import the statement' }).click();
  await page.getByText('1 new lines, 0 known, 1 refused.').waitFor();
  await page.getByText('Row 3: Its time cannot be read.').waitFor();
  await page.getByRole('link', { name: 'Reconcile a day' }).click();
  await page.getByLabel('Account at the network').selectOption('wave-test');
  await page.getByLabel('Day', { exact: true }).fill(utcDay(now));
  await page.getByRole('button', { name: 'Reconcile the day' }).click();
  await page.getByText('Proved').first().waitFor();
  await page.getByRole('link', { name: 'Nobody’s money in the statement' }).click();
  await page.getByText('came in on wave-test').waitFor();
  await page.getByRole('link', { name: 'Its case' }).click();
  await page.getByRole('link', { name: 'Record, ledger and statement' }).waitFor();
  const actions = await asOwner<{ action: string }>(
    service,
    `SELECT action FROM audit_entries WHERE action LIKE 'reconciliation.%' ORDER BY id`,
  );
  assert.deepEqual(
    actions.map(({ action }) => action),
    ['reconciliation.import', 'reconciliation.import_result', 'reconciliation.run'],
  );
  const reads = await asOwner<{ changes: unknown }>(
    service,
    `SELECT changes FROM audit_entries WHERE action = 'data.read' AND changes::text LIKE '%/reconciliation/explain%'`,
  );
  assert.equal(reads.length, 1, 'whose record an operator looks at stands in the audit log');
  await asOwner(
    service,
    `INSERT INTO reconciliation_days
     SELECT (jsonb_populate_record(one, jsonb_build_object('id', gen_random_uuid(), 'rail_account', 'other', 'day', one.day + number))).*
       FROM reconciliation_days AS one, generate_series(1, 401) AS number
      WHERE one.rail_account = 'wave-test' AND one.day = (SELECT max(day) FROM reconciliation_days)`,
  );
  const dayPath = `/operator/test/reconciliation/day?network=wave-test&day=${utcDay(now)}`;
  assert.match(await (await finance.get(dayPath)).text(), /In the statement/, 'a day is found behind 400 newer ones');
});

test('of whoever has not signed in no byte of a file is read: the sign-in comes first', async () => {
  const headers = ['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 20000000'];
  const head = rawHead('POST', '/operator/test/reconciliation/import', headers);
  const refused = await sendRaw(world.dashboard.service.url, head);
  assert.deepEqual([refused.status, refused.headers.get('location')], [303, '/operator/sign-in']);
});
