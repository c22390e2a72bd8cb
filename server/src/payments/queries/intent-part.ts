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

/**
 * Charges of the intents that a condition on intents finds. Looked up one by one: beside another condition a list of
 * intents would be gone through again for each charge, once it is too long to be kept in memory.
 */
export function ofIntents(part: ClausePart): ClausePart {
  return {
    ...part,
    text: (next) => `EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND ${part.text(next)}
    )`,
  };
}

/** What either of two conditions finds. */
export function eitherPart(left: ClausePart, right: ClausePart): ClausePart {
  return {
    name: `${left.name}_or_${right.name}`,
    text: (next) => `(${left.text(next)} OR ${right.text(next)})`,
    values: [...left.values, ...right.values],
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
