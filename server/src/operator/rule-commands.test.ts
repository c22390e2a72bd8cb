import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { eventually } from '../../../test/harness/eventually.ts';
import { contextOfCommand } from '../../../test/harness/operate.ts';
import { countWaiting } from '../../../test/harness/tables.ts';
import { readInput, UsageError } from '../kit/command-line.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { lockTerms } from '../merchants/manage-rules.ts';
import { appearanceCommands } from './appearance-commands.ts';
import type { CommandResult } from './command.ts';
import { feeCommands } from './fee-commands.ts';
import { limitCommands } from './limit-commands.ts';
import { rateLimitCommands } from './rate-limit-commands.ts';
import { receiptCommands } from './receipt-commands.ts';
import { reserveCommands } from './reserve-commands.ts';

let database: TestDatabase;
let db: Database;
let merchant: string;

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
  const [clock, random] = [new ManualClock(), seededRandom('rule commands')];
  const context = { clock, random, newId: () => uuidV7(clock, random) };
  const made = await db.withTransaction((tx) => createBusiness(tx, context, { name: 'Kairaba Books' }));
  merchant = made.test.id;
});
after(async () => {
  await db.close();
  await database.drop();
});

const rateLimits = { rateLimitLive: 100, rateLimitTest: 25, rateLimitKeyPercent: 80, rateLimitPages: 0 };

/** Runs what was typed, as operator/main.ts reads it; `MERCHANT` stands for the merchant's id. */
function run(words: string): Promise<CommandResult> {
  const [subject, verb, ...args] = words.replaceAll('MERCHANT', merchant).split(' ');
  const command = [
    ...feeCommands,
    ...limitCommands,
    ...rateLimitCommands,
    ...reserveCommands,
    ...appearanceCommands,
    ...receiptCommands,
  ].find(({ name }) => name === `${subject} ${verb}`);
  assert.ok(command, words);
  // These commands use nothing else of their context.
  return command.run(contextOfCommand({ db, rateLimits }), readInput('operator', command, args));
}

interface FeeLine {
  for: string;
  network: string;
  percent: number;
  fixed: number;
  minimum: number;
  maximum: number | null;
  source: string | null;
}

/** `transfer wave 1 0 0 null default`, a line for each. */
async function fees(words: string): Promise<string[]> {
  const { fees: lines } = (await run(words)).data as { fees: FeeLine[] };
  return lines.map((line) => Object.values(line).join(' '));
}

async function limits(words: string): Promise<string[]> {
  const { limits: lines } = (await run(words)).data as { limits: object[] };
  return lines.map((line) => Object.values(line).join(' '));
}

const payer = async (): Promise<unknown> =>
  ((await run('fees show --merchant MERCHANT')).data as { payer: unknown }).payer;

test('a fee rule is set as a whole, shown with its source, and removed', async () => {
  assert.deepEqual(await fees('fees show --merchant MERCHANT'), ['collection all 0 0 0  ', 'transfer all 0 0 0  ']);
  assert.deepEqual(
    await fees('fees set --default --for collection --percent 1.5 --fixed 2.5 --minimum 3 --maximum 9.99'),
    ['collection all 1.5 2.5 3 9.99 default', 'transfer all 0 0 0  '],
  );
  assert.deepEqual(await fees('fees show --merchant MERCHANT'), [
    'collection all 1.5 2.5 3 9.99 default',
    'transfer all 0 0 0  ',
  ]);
  const replaced = await fees('fees set --merchant MERCHANT --for collection --fixed 0.01');
  assert.equal(replaced[0], 'collection all 0 0.01 0  merchant');
  assert.equal(
    (await fees('fees set --merchant MERCHANT --for collection --percent 2'))[0],
    'collection all 2 0 0  merchant',
  );
  assert.equal(
    (await fees('fees set --merchant MERCHANT --for collection --percent 0'))[0],
    'collection all 0 0 0  merchant',
  );
  const cleared = await fees('fees clear --merchant MERCHANT --for collection');
  assert.equal(cleared[0], 'collection all 1.5 2.5 3 9.99 default');
  assert.equal((await fees('fees clear --default --for collection'))[0], 'collection all 0 0 0  ');
});

test('the payer of fees is set with or without a rule, and leaves the rule as it is', async () => {
  assert.equal(await payer(), 'business');
  await run('fees set --merchant MERCHANT --for collection --percent 1 --payer customer');
  assert.equal(await payer(), 'customer');
  assert.equal((await fees('fees set --merchant MERCHANT --payer business'))[0], 'collection all 1 0 0  merchant');
  assert.equal(await payer(), 'business');
  await run('fees set --merchant MERCHANT --for collection --payer customer');
  assert.equal((await fees('fees clear --merchant MERCHANT --for collection'))[0], 'collection all 0 0 0  ');
  assert.equal(await payer(), 'customer', 'a rule that is cleared leaves it alone too');
});

test('transfer fees are listed by network, the rule for all others last', async () => {
  await run('fees set --default --for transfer --network wave --percent 1');
  await run('fees set --default --for transfer --fixed 5');
  await run('fees set --merchant MERCHANT --for transfer --network aps --percent 0');
  assert.deepEqual((await fees('fees show --merchant MERCHANT')).slice(1), [
    'transfer aps 0 0 0  merchant',
    'transfer wave 1 0 0  default',
    'transfer all 0 5 0  default',
  ]);
  assert.equal(
    (await run('fees show --default')).text,
    `All merchants without rules of their own
FOR         NETWORK  FEE     FROM
collection  all      No fee  -
transfer    wave     1%      default
transfer    all      D5.00   default`,
  );
});

test('limits are set one by one, lifted with none, and removed', async () => {
  assert.deepEqual(await limits('limits show --merchant MERCHANT'), ['largest  ', 'daily  ']);
  await run('limits set --default --largest 1000 --daily 5000.50');
  assert.deepEqual(await limits('limits set --merchant MERCHANT --daily none'), [
    'largest 1000 default',
    'daily  merchant',
  ]);
  assert.deepEqual(await limits('limits set --merchant MERCHANT --largest 0.01'), [
    'largest 0.01 merchant',
    'daily  merchant',
  ]);
  assert.deepEqual(await limits('limits clear daily --merchant MERCHANT'), [
    'largest 0.01 merchant',
    'daily 5000.5 default',
  ]);
  assert.deepEqual(await limits('limits show --default'), ['largest 1000 default', 'daily 5000.5 default']);
});

describe('a malformed command is refused with one sentence and changes nothing', () => {
  const owner = /^Give either --merchant <merchant id> or --default, which applies to all merchants without a rule\.$/;
  for (const [words, sentence] of [
    ['fees show', owner],
    ['fees set --for collection --percent 1', owner],
    ['fees set --default', /^Give at least one change: /],
    ['fees set --default --for collection', /^Give the fee: .* For no fee: --percent 0\.$/],
    ['fees set --default --percent 1', /^--for is missing: collection or transfer\.$/],
    ['fees set --default --for paying --percent 1', /^--for is collection or transfer, not paying\.$/],
    [
      'fees set --default --for collection --network wave --percent 1',
      /^The fee of collections is the same on every network/,
    ],
    ['fees set --default --for transfer --network wafe --percent 1', /^--network is one of wave, .*, not wafe\.$/],
    ['fees set --default --for transfer --percent 1.555', /^--percent is from 0 to 100 .*, not 1\.555\.$/],
    ['fees set --default --for transfer --percent 100.01', /^--percent is from 0 to 100 .*, not 100\.01\.$/],
    ['fees set --default --for transfer --percent=-1', /^--percent is from 0 to 100 .*, not -1\.$/],
    ['fees set --default --for transfer --fixed 1,50', /^--fixed is an amount in dalasi .*, not 1,50\.$/],
    ['fees set --default --for transfer --fixed 1e3', /^--fixed is an amount in dalasi .*, not 1e3\.$/],
    [`fees set --default --for transfer --fixed ${'9'.repeat(30)}`, /^--fixed is an amount in dalasi .*, not 9{30}\.$/],
    ['fees set --default --for transfer --minimum 5 --maximum 4', /^--maximum is less than --minimum\. /],
    ['fees set --default --payer customer', /^Each merchant sets who pays its fees/],
    ['fees set --default --payer nobody', /^--payer is business or customer, not nobody\.$/],
    ['fees set --default --for transfer --payer customer', /^The fee of a transfer is always charged on top of it/],
    ['fees clear --default --for transfer --network qmoney', /^This rule is not set\. See: fees show --default$/],
    ['limits set --default', /^Give at least one limit: --largest or --daily\.$/],
    ['limits set --default --daily none', /^A default cannot be none: use limits clear --default\.$/],
    ['limits set --default --daily lots', /^--daily is an amount in dalasi .*, not lots\.$/],
    ['limits clear weekly --default', /^A limit is largest or daily, not weekly\.$/],
    ['limits show --merchant x', /^There is no merchant x\. See: businesses list$/],
  ] as const) {
    test(words, async () => {
      const before = [await fees('fees show --default'), await limits('limits show --default')];
      await assert.rejects(run(words), (error) => {
        assert.ok(error instanceof UsageError, String(error));
        assert.match(error.message, sentence);
        return true;
      });
      assert.deepEqual([await fees('fees show --default'), await limits('limits show --default')], before);
    });
  }
});

/** `10 48 30 default`: percent, hours, days of being new, whose rule. */
async function reserve(words: string): Promise<string> {
  const { percent, hours, new_for_days: days, source } = (await run(words)).data as Record<string, unknown>;
  return [percent, hours, days, source].join(' ');
}

test('a reserve rule is set as a whole, shown with its source, and removed', async () => {
  const show = 'reserve show --merchant MERCHANT';
  assert.equal(await reserve(show), '0 0  ');
  assert.match((await run(show)).text, /nothing +- +- +-$/);
  assert.equal(await reserve('reserve set --default --percent 10 --hours 48 --new-for-days 30'), '10 48 30 default');
  assert.equal(await reserve(show), '0 0  ', 'the default is for live merchants');
  assert.equal(await reserve('reserve set --merchant MERCHANT --percent 2.5 --hours 24'), '2.5 24  merchant');
  assert.match((await run(show)).text, /2\.5 % +24 hours +of any age +own rule$/);
  assert.equal(await reserve('reserve set --merchant MERCHANT --percent 0'), '0 0  merchant');
  assert.equal(await reserve('reserve clear --merchant MERCHANT'), '0 0  ');
  assert.equal(await reserve('reserve clear --default'), '0 0  ');
});

test('a reserve out of range is refused, and so is clearing a reserve that is not set', async () => {
  for (const [words, message] of [
    ['reserve set --merchant MERCHANT --percent 100.01 --hours 1', /--percent is from 0 to 100/],
    ['reserve set --merchant MERCHANT --percent=-1 --hours 1', /--percent/],
    ['reserve set --merchant MERCHANT --percent 10', /--hours/],
    ['reserve set --merchant MERCHANT --percent 10 --hours 0', /--hours is a whole number from 1 to 8784/],
    ['reserve set --merchant MERCHANT --percent 10 --hours 8785', /--hours is a whole number/],
    ['reserve set --merchant MERCHANT --percent 10 --hours 1 --new-for-days 3661', /--new-for-days is a whole number/],
    ['reserve set --default --percent 0', /reserve clear --default/],
    ['reserve set --percent 10 --hours 1', /--merchant <merchant id> or --default/],
    ['reserve set --merchant MERCHANT --default --percent 10 --hours 1', /--merchant <merchant id> or --default/],
    ['reserve clear --merchant MERCHANT', /This rule is not set\. See: reserve show --merchant/],
  ] as const) {
    await assert.rejects(run(words), (error) => message.test(String(error)), words);
  }
});

/** `requests - RATE_LIMIT_TEST`, a line for each limit, then those of single pages. */
async function shownLimits(words: string): Promise<string[]> {
  const data = (await run(words)).data as { rate_limits: Record<string, unknown>[]; pages: object[] };
  const limits = data.rate_limits.map(({ limit, rate, source }) => [limit, rate ?? '-', source].join(' '));
  return [...limits, ...data.pages.map((page) => Object.values(page).join(' '))];
}

test('rate limits are set one by one, shown with the setting they replace, and removed', async () => {
  const settings = ['requests 25 RATE_LIMIT_TEST', 'key-percent 80 RATE_LIMIT_KEY_PERCENT', 'pages 0 RATE_LIMIT_PAGES'];
  assert.deepEqual(await shownLimits('rate-limits show --merchant MERCHANT'), settings);
  const { text: untouched } = await run('rate-limits show --merchant MERCHANT');
  assert.match(untouched, /requests +25 requests a second +RATE_LIMIT_TEST$/m);
  assert.match(untouched, /key-percent +80 percent for each key +RATE_LIMIT_KEY_PERCENT$/m);
  assert.match(untouched, /pages +no limit +RATE_LIMIT_PAGES$/m);
  assert.deepEqual(await shownLimits('rate-limits set --merchant MERCHANT --requests 300 --key-percent 50'), [
    'requests 300 merchant',
    'key-percent 50 merchant',
    settings[2],
  ]);
  assert.deepEqual((await shownLimits('rate-limits set --merchant MERCHANT --pages none'))[2], 'pages 0 merchant');
  const { text } = await run('rate-limits show --merchant MERCHANT');
  assert.match(text, /requests +300 requests a second +own rule/);
  assert.match(text, /key-percent +50 percent for each key +own rule/);
  assert.match(text, /pages +no limit +own rule/);
  for (const limit of ['requests', 'key-percent', 'pages']) await run(`rate-limits clear ${limit} --merchant MERCHANT`);
  assert.deepEqual(await shownLimits('rate-limits show --merchant MERCHANT'), settings);
});

test('a merchant’s appearance is set part by part, shown, and removed', async () => {
  const none = { colour: null, phone: null, whatsapp: null, email: null, text: null, logo_set_at: null };
  const shown = async (words: string) => {
    const { merchant_id: _id, ...data } = (await run(words)).data as Record<string, unknown>;
    return data;
  };
  assert.deepEqual(await shown('appearance show --merchant MERCHANT'), none);
  const colour = { ...none, colour: '#8a1c4a' };
  assert.deepEqual(await shown('appearance set --merchant MERCHANT --colour #8A1C4A'), colour);
  const contact = { phone: '+220877012345', whatsapp: '+447700900123', email: 'shop@example.gm', text: 'Ask.' };
  const options = '--phone 7012345 --whatsapp +447700900123 --email shop@example.gm --text Ask.';
  assert.deepEqual(await shown(`appearance set --merchant MERCHANT ${options}`), { ...colour, ...contact });
  assert.deepEqual(await shown('appearance show --merchant MERCHANT'), { ...colour, ...contact });
  const removed = '--colour none --phone none --whatsapp none --email none --text none';
  assert.deepEqual(await shown(`appearance set --merchant MERCHANT ${removed}`), none);
});

test('an appearance that payers could not read or use is refused and changes nothing', async () => {
  for (const [words, message] of [
    ['appearance set --merchant MERCHANT', /Give at least one of --colour, --phone, --whatsapp, --email/],
    ['appearance set --merchant MERCHANT --colour red', /written as #rrggbb/],
    ['appearance set --merchant MERCHANT --colour #ffcc00', /hard to read. The nearest colour .*: #[0-9a-f]{6}/],
    ['appearance set --merchant MERCHANT --phone 12', /--phone: Write a Gambian number/],
    ['appearance set --merchant MERCHANT --email shop', /--email: Write an address/],
    ['appearance set --merchant MERCHANT --email a@b.c<script>', /--email: Write an address/],
    ['appearance set --merchant MERCHANT --email shop@example.gm?subject=hi', /--email: Write an address/],
    ['appearance set --merchant MERCHANT --email a\u202egm.elpmaxe@shop.gm', /--email: Write an address/],
    ['appearance set --merchant MERCHANT --colour #8a1c4a --phone 12', /--phone/],
  ] as const) {
    await assert.rejects(run(words), (error) => error instanceof UsageError && message.test(error.message), words);
  }
  assert.equal(((await run('appearance show --merchant MERCHANT')).data as { colour: unknown }).colour, null);
});

test('a rate limit out of range is refused and changes nothing', async () => {
  const unknown = '01a1f8ac-4b37-7417-9fed-11d78420f713';
  for (const [words, message] of [
    ['rate-limits set --merchant MERCHANT', /Give at least one limit/],
    ['rate-limits set --merchant MERCHANT --requests 0', /--requests is a whole number from 1 to 100000 or none/],
    ['rate-limits set --merchant MERCHANT --requests 100001', /--requests is a whole number/],
    ['rate-limits set --merchant MERCHANT --requests 1.5', /--requests is a whole number/],
    ['rate-limits set --merchant MERCHANT --key-percent 101', /--key-percent is a whole number from 1 to 100, not 101/],
    ['rate-limits set --merchant MERCHANT --key-percent none', /--key-percent is a whole number/],
    [
      `rate-limits set --merchant MERCHANT --pages 5 --link ${unknown} --counter ${unknown}`,
      /either --link or --counter/,
    ],
    [`rate-limits set --merchant MERCHANT --pages 5 --link ${unknown}`, /no payment link/i],
    [`rate-limits set --merchant MERCHANT --pages 5 --counter nobody`, /no .*terminal/i],
    ['rate-limits set --merchant nobody --pages 5', /There is no merchant nobody/],
    ['rate-limits clear pages --merchant MERCHANT', /This limit is not set\. See: rate-limits show --merchant/],
    ['rate-limits clear all --merchant MERCHANT', /A rate limit is requests, key-percent, pages, not all/],
  ] as const) {
    await assert.rejects(run(words), (error) => message.test(String(error)), words);
  }
  assert.deepEqual(await shownLimits('rate-limits show --merchant MERCHANT'), [
    'requests 25 RATE_LIMIT_TEST',
    'key-percent 80 RATE_LIMIT_KEY_PERCENT',
    'pages 0 RATE_LIMIT_PAGES',
  ]);
});

interface Change {
  field: string;
  before: string | null;
  after: string | null;
}

/** What the newest two audit entries of an action say of one field. */
async function newestChanges(action: string, field: string): Promise<(Change | undefined)[]> {
  const text = 'SELECT changes FROM audit_entries WHERE action = $1 ORDER BY id DESC LIMIT 2';
  const rows = await db.rows<{ changes: Change[] }>({ name: 'test.newestChanges', text, values: [action] });
  return rows.map(({ changes }) => changes.find((change) => change.field === field));
}

test('of two commands that change a term at once, the later one records what the earlier one has set', async () => {
  for (const [action, field, first, second] of [
    ['limits.set', 'daily', 'limits set --default --daily 4100', 'limits set --default --daily 4200'],
    [
      'fees.set',
      'fixed',
      'fees set --default --for collection --fixed 3',
      'fees set --default --for collection --fixed 4',
    ],
    [
      'settlement.set',
      'percent',
      'reserve set --default --percent 3 --hours 1',
      'reserve set --default --percent 4 --hours 1',
    ],
    [
      'rate-limits.set',
      'requests',
      'rate-limits set --merchant MERCHANT --requests 30',
      'rate-limits set --merchant MERCHANT --requests 40',
    ],
    [
      'appearance.set',
      'contact_text',
      'appearance set --merchant MERCHANT --text First.',
      'appearance set --merchant MERCHANT --text Second.',
    ],
    [
      'receipts.limit',
      'above',
      'receipts limit --merchant MERCHANT --above 100',
      'receipts limit --merchant MERCHANT --above 200',
    ],
  ] as const) {
    // Whatever either reads before it may change anything, both read.
    const [locked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = db.withTransaction(async (tx) => {
      await lockTerms(tx);
      locked.resolve();
      await held.promise;
    });
    await locked.promise;
    const changes = Promise.all([run(first), run(second)]);
    await eventually('both wait', async () => (await countWaiting(db)) === 2);
    held.resolve();
    await Promise.all([holding, changes]);
    const [one, other] = await newestChanges(action, field);
    assert.ok(one && other, action);
    assert.ok(one.before === other.after || other.before === one.after, `${action}: ${JSON.stringify([one, other])}`);
  }
});
