import type { Queryable } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';

/** A payment, transfer or refund, with whose it is. */
export interface FoundRecord {
  merchantId: string;
  kind: 'payment' | 'transfer' | 'refund';
  id: string;
}

const transferKind = `CASE WHEN kind = 'refund' THEN 'refund' ELSE 'transfer' END`;
const columns = `merchant_places.merchant_id AS "merchantId", found.kind, found.id`;
const everyMerchant = 'merchant_places JOIN merchants ON merchants.id = merchant_places.merchant_id';

/** By its own id, or by the id of an attempt to pay it: a look-up in each merchant's primary keys. */
export const findRecordsById = rowsBy<FoundRecord, [{ testMode: boolean; id: string }]>({
  name: 'reports_find_by_id',
  text: `-- across merchants: an operator has the id alone
         SELECT ${columns} FROM ${everyMerchant} CROSS JOIN LATERAL (
           SELECT 'payment' AS kind, id FROM payment_intents WHERE merchant_id = merchant_places.merchant_id AND payment_intents.id = $2
           UNION ALL
           SELECT 'payment', intent_id FROM charges WHERE merchant_id = merchant_places.merchant_id AND charges.id = $2
           UNION ALL
           SELECT ${transferKind}, id FROM transfers WHERE merchant_id = merchant_places.merchant_id AND transfers.id = $2
         ) AS found WHERE test_mode = $1`,
  values: ({ testMode, id }) => [testMode, id],
});

/** By a reference of ours, as receipts and networks show it. */
export const findRecordsByReference = rowsBy<FoundRecord, [{ testMode: boolean; reference: string }]>({
  name: 'reports_find_by_reference',
  text: `-- across merchants: an operator has the reference alone
         SELECT ${columns} FROM ${everyMerchant} CROSS JOIN LATERAL (
           SELECT 'payment' AS kind, intent_id AS id FROM charges WHERE merchant_id = merchant_places.merchant_id AND reference = $2
           UNION
           SELECT 'payment', intent_id FROM charges WHERE merchant_id = merchant_places.merchant_id AND transaction_reference = upper($2)
           UNION
           SELECT ${transferKind}, id FROM transfers WHERE merchant_id = merchant_places.merchant_id AND reference = $2
         ) AS found WHERE test_mode = $1`,
  values: ({ testMode, reference }) => [testMode, reference],
});

/** By the network's own id of money that moved. */
export async function findRecordsByNetworkId(
  db: Queryable,
  { railAccounts, transactionId }: { railAccounts: readonly string[]; transactionId: string },
): Promise<FoundRecord[]> {
  const claims = await db.rows<{ merchantId: string; subjectId: string }>({
    name: 'reports_find_claims',
    text: `-- across merchants: a network knows no merchant
           SELECT DISTINCT merchant_id AS "merchantId", subject_id AS "subjectId" FROM provider_transactions
           WHERE rail_account = ANY ($1::text[]) AND transaction_id = $2`,
    values: [railAccounts, transactionId],
  });
  const records = await Promise.all(
    claims.map(({ merchantId, subjectId }) =>
      db.rows<FoundRecord>({
        name: 'reports_find_subject',
        text: `SELECT merchant_id AS "merchantId", 'payment' AS kind, intent_id AS id FROM charges
               WHERE merchant_id = $1 AND id = $2
               UNION ALL
               SELECT merchant_id, ${transferKind}, id FROM transfers WHERE merchant_id = $1 AND id = $2`,
        values: [merchantId, subjectId],
      }),
    ),
  );
  return records.flat();
}

/**
 * By the number that paid, that the merchant gave for the payer, or that was paid; the newest first. Each part reads an index of
 * every merchant; ids of version 7 count up with time.
 */
export function findRecordsByNumber(
  db: Queryable,
  search: { testMode: boolean; canonical: string; digits: readonly string[]; rowsMax: number },
): Promise<FoundRecord[]> {
  const sent = String.raw`regexp_replace(customer_phone, '\D', '', 'g')`;
  return db.rows<FoundRecord>({
    name: 'reports_find_by_number',
    text: `-- across merchants: somebody calls and has a number alone
           SELECT DISTINCT ${columns} FROM ${everyMerchant} CROSS JOIN LATERAL (
             (SELECT 'payment' AS kind, intent_id AS id FROM charges
              WHERE merchant_id = merchant_places.merchant_id AND account_canonical = $2 ORDER BY intent_id DESC LIMIT $5)
             UNION ALL
             (SELECT 'payment', id FROM payment_intents
              WHERE merchant_id = merchant_places.merchant_id AND customer_phone IS NOT NULL
                AND right(${sent}, 7) = $3 AND ${sent} = ANY ($4::text[]) ORDER BY id DESC LIMIT $5)
             UNION ALL
             (SELECT ${transferKind}, id FROM transfers
              WHERE merchant_id = merchant_places.merchant_id AND account_canonical = $2 ORDER BY id DESC LIMIT $5)
           ) AS found WHERE test_mode = $1 ORDER BY id DESC LIMIT $5`,
    values: [search.testMode, search.canonical, (search.digits[0] ?? '').slice(-7), search.digits, search.rowsMax],
  });
}
