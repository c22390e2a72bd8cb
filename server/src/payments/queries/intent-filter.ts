import type { ListFilter } from '../../kit/list-filter.ts';

/** Charges of the intents that have this value in a column; undefined is no filter. */
export function intentFilter(
  name: string,
  column: 'customer_id' | 'terminal_id' | 'payment_link_id',
  value: string | undefined,
): ListFilter[] {
  if (value === undefined) return [];
  const filter: ListFilter = {
    name,
    text: (next) =>
      `charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND ${column} = ${next()})`,
    values: [value],
  };
  return [filter];
}

/**
 * Charges of the intents that a condition on intents finds. Looked up one by one: beside another condition a list of
 * intents would be gone through again for each charge, once it is too long to be kept in memory.
 */
export function ofIntents(filter: ListFilter): ListFilter {
  return {
    ...filter,
    text: (next) => `EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND ${filter.text(next)}
    )`,
  };
}

/** What either of two conditions finds. */
export function eitherFilter(left: ListFilter, right: ListFilter): ListFilter {
  return {
    name: `${left.name}_or_${right.name}`,
    text: (next) => `(${left.text(next)} OR ${right.text(next)})`,
    values: [...left.values, ...right.values],
  };
}

/** Charges of the intents that this sub-account has a share of, by itself or in a group; undefined is no filter. */
export function shareFilter(subAccountId: string | undefined): ListFilter[] {
  if (subAccountId === undefined) return [];
  const filter: ListFilter = {
    name: 'sub_account',
    text: (next) =>
      `charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = ${next()})`,
    values: [subAccountId],
  };
  return [filter];
}
