import type { World } from './world.ts';

/** Whether a network has to be asked: also about a payout that it refused to take until it was not sent any more. */
export async function areCasesUnknown(world: World): Promise<boolean> {
  if (world.traffic.unreported.isAny || (await world.unsettled.areAny(world))) return true;
  return (await listCasesForBooks(world)).length > 0;
}

/** Whether a reversal waits for two operators: nothing else shows that it is unfinished. */
export async function areReversalsOpen(world: World): Promise<boolean> {
  return (await listCasesForBooks(world)).some(({ kind }) => kind === 'partial_reversal');
}

/**
 * When a network has not reported an outcome for a day, or has reversed a payment of which it had refunded a part, two operators look
 * it up in its books and resolve the case by it.
 */
export async function resolveUnknownCases(world: World): Promise<void> {
  await world.unsettled.settleOnRequest(world);
  for (const { caseId, kind, reference, transactionId, amount } of await listCasesForBooks(world)) {
    const reported = transactionId === null ? null : { transactionId, amountMinor: BigInt(amount ?? 0) };
    const outcome = reported === null ? 'not_paid' : 'paid';
    const resolution = kind === 'partial_reversal' ? 'reversed' : outcome;
    await world.operators.resolveByBooks({ caseId, reference, resolution, reported });
    if (kind === 'outcome_unknown') world.traffic.unreported.report(reference);
  }
}

interface CaseForBooks {
  caseId: string;
  kind: 'outcome_unknown' | 'partial_reversal';
  reference: string;
  /** Null where the network was not paid, or did not pay. */
  transactionId: string | null;
  amount: string | null;
}

/** A case about a reversal that the books do not have is about what a network said and was not so. */
async function listCasesForBooks({ room }: World): Promise<CaseForBooks[]> {
  const text = `WITH books AS (
      SELECT reference, transaction_id, amount_paid AS amount,
        CASE WHEN planned_at <= $1 THEN planned_status ELSE status END AS status FROM simulator.sessions
      UNION ALL SELECT COALESCE(client_reference, reference), transaction_id, amount,
        CASE WHEN planned_at <= $1 THEN planned_status ELSE status END FROM simulator.payouts
    )
    SELECT cases.id AS "caseId", cases.kind, COALESCE(charges.reference, transfers.reference) AS reference,
      CASE WHEN cases.kind = 'partial_reversal' OR books.status IN ('complete', 'completed') THEN books.transaction_id END AS "transactionId",
      books.amount
    FROM cases
    LEFT JOIN charges ON charges.merchant_id = cases.merchant_id AND charges.id = subject_id
    LEFT JOIN transfers ON transfers.merchant_id = cases.merchant_id AND transfers.id = subject_id
    LEFT JOIN books ON books.reference = COALESCE(charges.reference, transfers.reference)
    WHERE cases.status = 'open'
      AND (cases.kind = 'outcome_unknown' OR cases.kind = 'partial_reversal' AND charges.id IS NOT NULL AND books.status = 'reversed')
    ORDER BY cases.id`;
  return (await room.shared.database.asOwner<CaseForBooks>(text, [new Date(room.clock.passedMs)])).rows;
}
