import { rowsBy } from '../kit/run-statement.ts';

/** The payments through one network in one hour. */
export interface TakingsRow {
  network: string;
  /** The beginning of the hour, UTC. */
  hour: Date;
  count: bigint;
  paidMinor: bigint;
  refundedMinor: bigint;
}

/** What was paid at a counter or through a link, without what networks reversed. */
export interface TakingsOf {
  id: string;
  count: bigint;
  paidMinor: bigint;
  refundedMinor: bigint;
}

const takingsOf = (column: 'terminal_id' | 'payment_link_id') =>
  `SELECT intents.${column} AS id, count(*) AS count,
     sum(COALESCE(charges.amount_received, charges.amount_paid) - charges.amount_reversed)::bigint AS "paidMinor",
     sum(charges.amount_refunded)::bigint AS "refundedMinor"
   FROM payment_intents AS intents
   JOIN charges ON charges.merchant_id = intents.merchant_id AND charges.intent_id = intents.id
   WHERE intents.merchant_id = $1 AND intents.${column} = ANY ($2::uuid[])
     AND charges.status IN ('completed', 'refunded')`;

/** Those that have payments with `from` ≤ paid at < `to`; counted as in `listTakings`. */
export const listTakingsOfTerminals = rowsBy<
  TakingsOf,
  [merchantId: string, { ids: readonly string[]; from: Date; to: Date }]
>({
  name: 'transactions_takings_of_terminals',
  text: `${takingsOf('terminal_id')} AND charges.paid_at >= $3 AND charges.paid_at < $4 GROUP BY 1`,
  values: (merchantId, { ids, from, to }) => [merchantId, ids, from, to],
});

/** The same for links, with all of their payments. */
export const listTakingsOfLinks = rowsBy<TakingsOf, [merchantId: string, ids: readonly string[]]>({
  name: 'transactions_takings_of_links',
  text: `${takingsOf('payment_link_id')} GROUP BY 1`,
});

/**
 * Payments at a terminal with `from` ≤ paid at < `to`, by hour and network in that order, without payments and parts of them that
 * their network reversed.
 */
export const listTakings = rowsBy<TakingsRow, [merchantId: string, { terminalId: string; from: Date; to: Date }]>({
  name: 'transactions_takings_of_terminal',
  text: `SELECT charges.network, date_trunc('hour', charges.paid_at, 'UTC') AS hour, count(*) AS count,
           sum(COALESCE(charges.amount_received, charges.amount_paid) - charges.amount_reversed)::bigint AS "paidMinor",
           sum(charges.amount_refunded)::bigint AS "refundedMinor"
         FROM payment_intents AS intents
         JOIN charges ON charges.merchant_id = intents.merchant_id AND charges.intent_id = intents.id
         WHERE intents.merchant_id = $1 AND intents.terminal_id = $2
           AND charges.status IN ('completed', 'refunded') AND charges.paid_at >= $3 AND charges.paid_at < $4
         GROUP BY hour, charges.network
         ORDER BY hour, charges.network`,
  values: (merchantId, { terminalId, from, to }) => [merchantId, terminalId, from, to],
});
