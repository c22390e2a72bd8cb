import type { ClausePart } from '../../kit/list-clause.ts';

/** Charges of the intents that have this value in a column. */
export function intentPart(
  name: string,
  column: 'customer_id' | 'terminal_id' | 'payment_link_id',
  value: string,
): ClausePart {
  return {
    name,
    text: (next) =>
      `charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND ${column} = ${next()})`,
    values: [value],
  };
}

/** Charges of the intents that this sub-account has a share of, by itself or in a group. */
export function sharePart(subAccountId: string): ClausePart {
  return {
    name: 'sub_account',
    text: (next) =>
      `charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = ${next()})`,
    values: [subAccountId],
  };
}
