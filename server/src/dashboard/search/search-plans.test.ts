import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestDatabase } from '../../../../test/harness/database.ts';
import type { TestDatabase } from '../../../../test/harness/database.ts';
import { genericPlans } from '../../../../test/harness/explain.ts';
import { ListReader } from '../../api/list-reader.ts';
import { listPayments } from '../../payments/find-payment.ts';
import { paymentSearchOf } from '../../payments/payment-search.ts';
import { listRefunds } from '../../refunds/find-refund.ts';
import { listTransfers } from '../../transfers/find-transfer.ts';
import { typedSearch } from '../patterns/typed-search.ts';

// 20,000 of each of one merchant, with 2,000 amounts and as many numbers.

const merchantId = '01a1f8ac-4b37-7417-9fed-000000000001';
const count = 20_000;
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
       metadata, source, attempts, late, event_sequence, created_at, updated_at, expires_at)
     SELECT '${merchantId}', ${idOf}, 'successful', ${amountOf}, 0, 'business', 'GMD', n::text, n::text, '{}', 'api', 1, false, 1,
       ${timeOf}, ${timeOf}, ${timeOf} ${from}`,
    `INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid, currency, network,
       reference, transaction_reference, progress, late, amount_refunded, event_sequence, created_at, updated_at)
     SELECT '${merchantId}', ${idOf}, ${idOf}, 1, 'completed', ${amountOf}, 0, 'business', ${amountOf}, 'GMD', 'aps', n::text,
       n::text, 'final', false, 0, 1, ${timeOf}, ${timeOf} ${from}`,
    `INSERT INTO transfers (merchant_id, id, kind, status, amount, fee, currency, network, account_number, account_canonical,
       metadata, route, reference, progress, sends, event_sequence, created_at, updated_at)
     SELECT '${merchantId}', ${idOf}, CASE n % 2 WHEN 0 THEN 'refund' ELSE 'transfer' END, 'completed', ${amountOf}, 0, 'GMD', 'aps',
       ${numberOf}, ${numberOf}, '{}', 'payout', n::text, 'final', 1, 1, ${timeOf}, ${timeOf} ${from}`,
    `INSERT INTO refunds (merchant_id, id, charge_id, amount, currency, created_at)
     SELECT '${merchantId}', ${idOf}, ${idOf}, ${amountOf}, 'GMD', ${timeOf} ${from} WHERE n % 2 = 0`,
  ]) {
    await database.asOwner(`SET session_replication_role = replica; ${text}`);
  }
  await database.asOwner('ANALYZE payment_intents, charges, transfers, refunds');
});
after(() => database.drop());

test('payments, transfers and refunds are searched by amount, and payouts by number, in an index alone', async () => {
  const page = { limit: 25, offset: 0, before: null };
  const now = new Date('2026-11-22T07:36:00Z');
  const cases = [
    ['D1,234.00', /payment_intents_total_idx/, 'payments'],
    ['1234.50', /transfers_amount_idx/, 'transfers'],
    ['700 0012', /transfers_number_idx/, 'transfers'],
    ['D1,234', /refunds_amount_idx/, 'refunds'],
    ['700 0012', /transfers_number_idx/, 'refunds'],
  ] as const;
  for (const [term, index, list] of cases) {
    const plans = await genericPlans(database, (db) => {
      const lists = new ListReader(db);
      if (list === 'transfers') return listTransfers(lists, merchantId, page, typedSearch({ term }));
      if (list === 'refunds') return listRefunds(lists, merchantId, page, typedSearch({ term }));
      return listPayments({ db, lists }, merchantId, page, { now, search: paymentSearchOf(term) });
    });
    assert.equal(plans.length, 2, 'the page and the count');
    for (const plan of plans) {
      assert.match(plan, index, `${list} ${term}`);
      assert.doesNotMatch(plan, /Seq Scan/, `${list} ${term}`);
    }
  }
});
