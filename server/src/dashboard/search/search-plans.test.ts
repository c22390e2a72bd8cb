import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { effort } from '../../../../test/harness/effort.ts';
import { createTestDatabase, type TestDatabase } from '../../../../test/harness/database.ts';
import { openTestDatabase } from '../../../../test/harness/open-test-database.ts';
import { genericPlans } from '../../../../test/harness/explain.ts';
import type { TimeFilter } from '../../api/list-filter.ts';
import { ListReader } from '../../api/list-reader.ts';
import { searchedRowsMax } from '../../api/pagination.ts';
import type { Queryable } from '../../kit/db.ts';
import { seededRandom } from '../../kit/random.ts';
import { listPayments } from '../../payments/find-payment.ts';
import { paymentSearchOf } from '../../payments/payment-search.ts';
import { listRefunds } from '../../refunds/find-refund.ts';
import { listTransfers } from '../../transfers/find-transfer.ts';
import { typedSearch } from '../patterns/typed-search.ts';

// Payments of one merchant, and half as many transfers and refunds, with 2,000 amounts and as many numbers. Of each list there are
// more than a text is searched in.

const merchantId = '01a1f8ac-4b37-7417-9fed-000000000001';
const count = effort({ usual: 24_000, long: 60_000 });
const termsTried = effort({ usual: 4, long: 12 });
const idOf = `(lpad(to_hex(1793000000000 + n * 1000), 12, '0') || '70008000' || lpad(to_hex(n), 12, '0'))::uuid`;
const timeOf = `to_timestamp(1793000000 + n)`;
const amountOf = `100 * (1 + n % 2000)`;
const numberOf = `'+22087700' || lpad((n % 2000)::text, 4, '0')`;
const from = `FROM generate_series(1, ${count}) AS n`;

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
  for (const text of [
    `INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret, checkout_token,
       metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at, title)
     SELECT '${merchantId}', ${idOf}, 'successful', ${amountOf}, 0, 'business', 'GMD', n::text, n::text, '{}', 'api', 1, false, 1,
       ${timeOf}, ${timeOf}, ${timeOf}, 'Order ' || n ${from}`,
    `INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid, currency, network,
       reference, transaction_reference, progress, late, amount_refunded, event_sequence, created_at, updated_at)
     SELECT '${merchantId}', ${idOf}, ${idOf}, 1, 'completed', ${amountOf}, 0, 'business', ${amountOf}, 'GMD', 'aps', 'R' || n,
       'TX-' || n, 'final', false, 0, 1, ${timeOf}, ${timeOf} ${from}`,
    `INSERT INTO transfers (merchant_id, id, kind, status, amount, fee, currency, network, account_number, account_canonical,
       metadata, route, reference, progress, sends, event_sequence, created_at, updated_at)
     SELECT '${merchantId}', ${idOf}, CASE n % 2 WHEN 0 THEN 'refund' ELSE 'transfer' END, 'completed', ${amountOf}, 0, 'GMD', 'aps',
       ${numberOf}, ${numberOf}, '{}', 'payout', 'P' || n, 'final', 1, 1, ${timeOf}, ${timeOf} ${from}`,
    `INSERT INTO refunds (merchant_id, id, charge_id, amount, currency, created_at)
     SELECT '${merchantId}', ${idOf}, ${idOf}, ${amountOf}, 'GMD', ${timeOf} ${from} WHERE n % 2 = 0`,
  ]) {
    await database.asOwner(`SET session_replication_role = replica; ${text}`);
  }
  await database.asOwner('ANALYZE payment_intents, charges, transfers, refunds');
  // Of as few rows as on each change the planner would rather read a table whole, so it shows only that it need not.
  const name = new URL(database.adminUrl).pathname.slice(1);
  await database.asOwner(`ALTER DATABASE ${name} SET enable_seqscan = ${effort({ usual: 'off', long: 'on' })}`);
});
after(() => database.drop());

const page = { limit: 100, offset: 0, before: null };
const now = new Date('2026-11-22T07:36:00Z');
const lists = ['payments', 'transfers', 'refunds'] as const;

function search(db: Queryable, list: (typeof lists)[number], term: string, times: TimeFilter = {}) {
  const reader = new ListReader(db);
  if (list === 'transfers') return listTransfers(reader, merchantId, page, { ...typedSearch({ term }), ...times });
  if (list === 'refunds') return listRefunds(reader, merchantId, page, { ...typedSearch({ term }), ...times });
  return listPayments({ db, lists: reader }, merchantId, page, { now, search: paymentSearchOf(term), ...times });
}

test('payments, transfers and refunds are searched by amount, and payouts by number, in an index alone', async () => {
  const cases = [
    ['D1,234.00', /payment_intents_total_idx/, 'payments'],
    ['1234.50', /transfers_amount_idx/, 'transfers'],
    ['700 0012', /transfers_number_idx/, 'transfers'],
    ['D1,234', /refunds_amount_idx/, 'refunds'],
    ['700 0012', /transfers_number_idx/, 'refunds'],
    ['TX-12', /charges_transaction_reference_key/, 'payments'],
  ] as const;
  for (const [term, index, list] of cases) {
    const plans = await genericPlans(database, (db) => search(db, list, term));
    assert.equal(plans.length, 2, 'the page and the count');
    for (const plan of plans) {
      assert.match(plan, index, `${list} ${term}`);
      assert.doesNotMatch(plan, /Seq Scan/, `${list} ${term}`);
    }
  }
});

test('any other text reads indexes and the newest 10,000 records, never a whole table', async () => {
  for (const list of lists) {
    for (const term of ['zzz', '1234', 'Awa Ceesay', 'abcd', 'R12', '%_', '2026-11-22']) {
      const plans = await genericPlans(database, (db) => search(db, list, term));
      const searches = plans.filter((plan) => plan.includes('newest'));
      assert.equal(searches.length, 2, 'the page and the count');
      for (const plan of searches) {
        assert.doesNotMatch(plan, /Seq Scan/, `${list} ${term}: ${plan}`);
        assert.match(plan, /Limit .*rows=10000 /, `${list} ${term}: ${plan}`);
      }
    }
  }
});

/** What each row has in the columns that a text is searched in. */
function textOf(list: (typeof lists)[number], n: number): string {
  const payment = `Order ${n} TX-${n} R${n}`;
  if (list === 'payments') return payment;
  const id = `${(1_793_000_000_000 + n * 1_000).toString(16).padStart(12, '0')}70008000${n.toString(16).padStart(12, '0')}`;
  const dashed = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  const payout = `+22087700${String(n % 2_000).padStart(4, '0')} P${n} ${dashed}`;
  return list === 'refunds' ? `${payout} ${payment}` : payout;
}

function referenceOf(list: (typeof lists)[number], n: number): string {
  return list === 'payments' ? `R${n}` : `P${n}`;
}

test('a text is found in exactly the newest 10,000 of a list; an amount and a reference at any age', async () => {
  const client = openTestDatabase(database, { connectionsMax: 2 });
  const random = seededRandom('searches');
  const integer = (below: number) => Buffer.from(random.bytes(4)).readUInt32BE() % below;
  const numbers = Array.from({ length: count }, (_none, index) => count - index);
  const ofList = {
    payments: numbers,
    transfers: numbers.filter((n) => n % 2 === 1),
    refunds: numbers.filter((n) => n % 2 === 0),
  };
  const terms = Array.from({ length: termsTried }, () => String(integer(count)).slice(-2 - integer(3)));
  for (const list of lists) {
    const newest = ofList[list].slice(0, searchedRowsMax);
    for (const term of ['order 23', 'p119', ...terms, ...terms.map((each) => `R${each}`)]) {
      const amount = /^\d+$/.test(term) ? Number(term) : undefined;
      const inText = new Set(newest.filter((n) => textOf(list, n).toLowerCase().includes(term.toLowerCase())));
      const isFound = (n: number) => inText.has(n) || 1 + (n % 2_000) === amount || referenceOf(list, n) === term;
      const expected = ofList[list].filter(isFound);
      const { rows, total, isNewestOnly } = await search(client, list, term);
      const found = rows.map((row) => Number.parseInt(('intent' in row ? row.intent.id : row.id).slice(-12), 16));
      assert.deepEqual(
        { found, total },
        { found: expected.slice(0, page.limit), total: expected.length },
        `${list} ${term}`,
      );
      assert.equal(isNewestOnly, true, 'older ones were not searched');
    }
    const oldest = ofList[list].at(-1) ?? 0;
    const until = { to: new Date((1_793_000_000 + oldest + 100) * 1_000) };
    const dated = await search(client, list, 'o', until);
    assert.equal(dated.isNewestOnly, undefined, 'chosen dates that leave fewer are searched whole');
  }
  await client.close();
});
