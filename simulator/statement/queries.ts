import { rowsBy, valueBy } from '../../server/src/kit/run-statement.ts';
import type { Movement, MovementQuery } from './movement.ts';

/** In the order in which the money moved. What a scenario has planned counts from its time on: ask for no time to come. */
export const listMovements = rowsBy<Movement, [query: MovementQuery]>({
  name: 'simulator_movement_list',
  text: `WITH movements AS (
      SELECT transaction_id AS id, 'collection' AS kind, false AS reversal, amount_paid AS amount, currency,
        payer_number AS number, id AS subject_id, reference,
        CASE WHEN planned_status = 'complete' THEN planned_at
          WHEN status IN ('complete', 'reversed') THEN COALESCE(ended_at, created_at) END AS at
      FROM simulator.sessions WHERE account = $1 AND network = $2
      UNION ALL
      SELECT transaction_id || 'R', 'collection', true, -amount_paid, currency, payer_number, id, reference,
        CASE WHEN planned_status = 'reversed' THEN planned_at ELSE reversed_at END
      FROM simulator.sessions WHERE account = $1 AND network = $2
      UNION ALL
      SELECT payouts.transaction_id, CASE WHEN sessions.id IS NULL THEN 'payout' ELSE 'refund' END, false,
        -payouts.amount, payouts.currency, payouts.beneficiary_number, COALESCE(sessions.id, payouts.id),
        COALESCE(payouts.client_reference, payouts.reference), CASE WHEN payouts.planned_status = 'completed' THEN payouts.planned_at
          WHEN payouts.status = 'completed' THEN payouts.created_at END
      FROM simulator.payouts AS payouts
      LEFT JOIN simulator.sessions AS sessions ON sessions.account = payouts.account
        AND sessions.network = payouts.network AND sessions.transaction_id = payouts.refunded_transaction_id
      WHERE payouts.account = $1 AND payouts.network = $2
      UNION ALL
      SELECT payouts.transaction_id || 'R', CASE WHEN sessions.id IS NULL THEN 'payout' ELSE 'refund' END, true,
        payouts.amount, payouts.currency, payouts.beneficiary_number, COALESCE(sessions.id, payouts.id),
        COALESCE(payouts.client_reference, payouts.reference), CASE WHEN payouts.planned_status = 'reversed' THEN payouts.planned_at END
      FROM simulator.payouts AS payouts
      LEFT JOIN simulator.sessions AS sessions ON sessions.account = payouts.account
        AND sessions.network = payouts.network AND sessions.transaction_id = payouts.refunded_transaction_id
      WHERE payouts.account = $1 AND payouts.network = $2
    ), balanced AS (
      SELECT *, (SUM(amount) OVER (ORDER BY at, id))::bigint AS balance FROM movements WHERE at < $4
    )
    SELECT id, kind, reversal AS "isReversal", amount AS "amountMinor", balance AS "balanceMinor", currency,
      NULLIF(number, '') AS number, subject_id AS "subjectId", reference, at
    FROM balanced
    WHERE at >= $3 AND ($5::timestamptz IS NULL OR (at, id) > ($5, $6))
    ORDER BY at, id LIMIT $7`,
  values: (query) => [
    query.account,
    query.network,
    query.from,
    query.before,
    query.after?.at ?? null,
    query.after?.id ?? '',
    query.rowsMax,
  ],
});

/** The sum of everything that has moved up to a time; 0 for a wallet without movements. */
export const sumMovements = valueBy<bigint, [wallet: { account: string; network: string; until: Date }]>({
  name: 'simulator_movement_sum',
  text: `WITH movements AS (
      SELECT amount_paid AS amount, CASE WHEN planned_status = 'complete' THEN planned_at
        WHEN status IN ('complete', 'reversed') THEN COALESCE(ended_at, created_at) END AS at
      FROM simulator.sessions WHERE account = $1 AND network = $2
      UNION ALL
      SELECT -amount_paid, CASE WHEN planned_status = 'reversed' THEN planned_at ELSE reversed_at END
      FROM simulator.sessions WHERE account = $1 AND network = $2
      UNION ALL
      SELECT -amount, CASE WHEN planned_status = 'completed' THEN planned_at
        WHEN status = 'completed' THEN created_at END
      FROM simulator.payouts WHERE account = $1 AND network = $2
      UNION ALL
      SELECT amount, CASE WHEN planned_status = 'reversed' THEN planned_at END
      FROM simulator.payouts WHERE account = $1 AND network = $2
    )
    SELECT COALESCE(SUM(amount), 0)::bigint AS value FROM movements WHERE at <= $3`,
  values: (wallet) => [wallet.account, wallet.network, wallet.until],
  none: 0n,
});
