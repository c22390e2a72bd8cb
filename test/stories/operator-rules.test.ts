import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { plainPng } from '../../server/src/posters/poster.corpus.ts';
import { createApiClient } from '../harness/api-client.ts';
import { readyAt } from '../harness/program.ts';
import { jsonOf, ServiceWorld, type CommandOutput } from '../harness/service-world.ts';
import { eventually } from '../harness/eventually.ts';

let world: ServiceWorld;
let dataDirectory: string;
let merchant: string;
let api: ReturnType<typeof createApiClient>;

const run = (...args: string[]): Promise<CommandOutput> =>
  world.runOperatorInProcess({ DATA_DIR: dataDirectory }, args);

async function runJson<Data>(...args: string[]): Promise<Data> {
  return jsonOf<Data>(await run(...args, '--json'));
}

before(async () => {
  world = new ServiceWorld();
  dataDirectory = await world.usedDataDirectory();
  const url = await readyAt(world.startServiceInProcess({ DATA_DIR: dataDirectory }));
  const made = await runJson<{ test: { merchant_id: string } }>('businesses', 'create', 'Kairaba Books');
  merchant = made.test.merchant_id;
  const { secret_key: key } = await runJson<{ secret_key: string }>('keys', 'create', '--merchant', merchant);
  api = createApiClient(url, key);
});

after(() => world.close());

interface Fees {
  fees: Record<string, unknown>[];
}

/** Waits until the running service charges this fee for D100, paid by this party. */
async function untilCollectingCosts(fee: number, payer: string): Promise<void> {
  await eventually(`collecting D100 costs the ${payer} D${fee}`, async () => {
    const { body } = await api.post('/v1/payments/preview', { data: { amount: 100 } });
    const { transaction_fee: found, transaction_fee_type: paidBy } = body;
    return found === fee && paidBy === payer;
  });
}

test('fees are set for a merchant and as the default, and the running service applies them', async () => {
  await untilCollectingCosts(0, 'business');
  const rule = ['--percent', '1.5', '--fixed', '2.50', '--minimum', '3', '--maximum', '100'];
  const set = await runJson<Fees>('fees', 'set', '--default', '--for', 'collection', ...rule);
  const stored = { percent: 1.5, fixed: 2.5, minimum: 3, maximum: 100 };
  assert.deepEqual(set.fees[0], { for: 'collection', network: 'all', ...stored, source: 'default' });
  await untilCollectingCosts(4, 'business');
  const own = ['--merchant', merchant];
  await runJson('fees', 'set', ...own, '--for', 'collection', '--fixed', '1.25', '--payer', 'customer');
  await untilCollectingCosts(2, 'customer');
  await runJson('fees', 'clear', ...own, '--for', 'collection');
  await untilCollectingCosts(4, 'customer');
  const { stdout } = await run('fees', 'show', ...own);
  assert.equal(
    stdout,
    `Kairaba Books (test), ${merchant}
The customer pays the fees of collections.
FOR         NETWORK  FEE                                            FROM
collection  all      1.5% + D2.50, at least D3.00, at most D100.00  default
transfer    all      No fee                                         -
`,
  );
});

test('a link’s page shows the fee that the customer pays, as the payment has it', async () => {
  await untilCollectingCosts(4, 'customer');
  const { body: link } = await api.post('/v1/payment-links', { data: { title: 'Gala ticket', amount: 100 } });
  const page = await (await fetch(String(link['url']))).text();
  assert.match(page, /<dt>Fee<\/dt><dd><span[^>]*>D4\.00<[\s\S]*>Pay <span[^>]*>D104\.00</);
  const paying = await fetch(String(link['url']), {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ amount: '100.00' }),
  });
  assert.match(await paying.text(), />Pay <span[^>]*>D104\.00</);
});

test('limits are set and shown', async () => {
  await runJson('limits', 'set', '--default', '--largest', '1000', '--daily', '5000.50');
  await runJson('limits', 'set', '--merchant', merchant, '--daily', 'none');
  const { stdout } = await run('limits', 'show', '--merchant', merchant);
  assert.equal(
    stdout,
    `Kairaba Books (test), ${merchant}
LIMIT    AMOUNT     FROM
largest  D1,000.00  default
daily    no limit   own rule
`,
  );
});

test('an invalid argument ends a command with one sentence and exit code 2', async () => {
  for (const [args, sentence] of [
    [
      'fees set --merchant x --default --percent 1 --for transfer',
      /^Give either --merchant <merchant id> or --default, /,
    ],
    ['limits set --default --daily', /daily/],
  ] as const) {
    const { code, stdout, stderr } = await run(...args.split(' '));
    assert.deepEqual([code, stdout], [2, ''], stderr);
    assert.match(stderr, sentence);
    assert.doesNotMatch(stderr, /\n./, 'no stack');
  }
});

test('a logo is added to a merchant’s posters and removed; a file that is no PNG is refused', async () => {
  const path = join(dataDirectory, 'logo.png');
  const own = ['--merchant', merchant];
  writeFileSync(path, plainPng(300, 200));
  assert.deepEqual(await runJson('logo', 'set', path, ...own), {
    merchant_id: merchant,
    bytes: plainPng(300, 200).length,
  });
  writeFileSync(path, '<svg/>');
  const { code, stderr } = await run('logo', 'set', path, ...own);
  assert.deepEqual([code, stderr], [2, `${path} is not a PNG.\n`]);
  rmSync(path);
  assert.match((await run('logo', 'set', path, ...own)).stderr, /^There is no file \S+logo[.]png[.]$/m);
  assert.deepEqual(await runJson('logo', 'remove', ...own), { merchant_id: merchant, removed: true });
  assert.equal((await run('logo', 'remove', ...own)).stderr, 'Kairaba Books has no logo.\n');
});
