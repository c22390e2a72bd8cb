import type { ClausePart } from '../../kit/list-clause.ts';

/** Charges of the intents that have this value in a column. */
export function intentPart(name: string, column: 'customer_id', value: string): ClausePart {
  return {
    name,
    text: (next) =>
      `charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND ${column} = ${next()})`,
    values: [value],
  };
}
