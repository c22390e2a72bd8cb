import type { World } from './world.ts';

/** Whether a network has to be asked: also about a payout that it refused to take until it was not sent any more. */
export async function areCasesUnknown({ room, traffic, unsettled }: World): Promise<boolean> {
  if (traffic.unreported.isAny || (await unsettled.areAny({ room }))) return true;
  const text = `SELECT FROM cases WHERE kind = 'outcome_unknown' AND status = 'open' LIMIT 1`;
  return (await room.shared.database.asOwner(text)).rows.length > 0;
}

/** When a network has not reported an outcome for a day, two operators look it up in its books and resolve the case by it. */
export async function resolveUnknownCases({ room, operators, traffic, unsettled }: World): Promise<void> {
  await unsettled.settleOnRequest({ room });
  const text = `WITH books AS (
      SELECT reference, transaction_id, amount_paid AS amount,
        CASE WHEN planned_at <= $1 THEN planned_status ELSE status END = 'complete' AS is_paid FROM simulator.sessions
      UNION ALL SELECT COALESCE(client_reference, reference), transaction_id, amount,
        CASE WHEN planned_at <= $1 THEN planned_status ELSE status END = 'completed' FROM simulator.payouts
    )
    SELECT cases.id AS "caseId", COALESCE(charges.reference, transfers.reference) AS reference,
      CASE WHEN is_paid THEN books.transaction_id END AS "transactionId", books.amount
    FROM cases
    LEFT JOIN charges ON charges.merchant_id = cases.merchant_id AND charges.id = subject_id
    LEFT JOIN transfers ON transfers.merchant_id = cases.merchant_id AND transfers.id = subject_id
    LEFT JOIN books ON books.reference = COALESCE(charges.reference, transfers.reference)
    WHERE cases.kind = 'outcome_unknown' AND cases.status = 'open' ORDER BY cases.id`;
  const { rows } = await room.shared.database.asOwner<{
    caseId: string;
    reference: string;
    transactionId: string | null;
    amount: string | null;
  }>(text, [new Date(room.clock.passedMs)]);
  for (const { caseId, reference, transactionId, amount } of rows) {
    const paid = transactionId === null ? null : { transactionId, amountMinor: BigInt(amount ?? 0) };
    await operators.resolveByBooks({ caseId, reference, paid });
    traffic.unreported.report(reference);
  }
}
