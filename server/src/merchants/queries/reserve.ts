import type { Queryable } from '../../kit/db.ts';
import { rowBy } from '../../kit/run-statement.ts';
import type { ReserveRule, ReserveRules, RuleOwner } from '../rules.ts';

/** The reserve rules that are read with a merchant. */
export interface ReserveRow {
  own_reserve: ReserveJson | null;
  default_reserve: ReserveJson | null;
}

interface ReserveJson {
  percent: string;
  hours: string;
  days: string | null;
}

const reserveJson = `json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text)`;

/** The columns of a `ReserveRow`, in a statement that reads merchants. */
export const reserves = `(SELECT ${reserveJson} FROM reserve_rules
    WHERE reserve_rules.merchant_id = merchants.id) AS own_reserve,
  (SELECT ${reserveJson} FROM default_reserve_rules) AS default_reserve`;

export function toReserves({ own_reserve: own, default_reserve: fallback }: ReserveRow): ReserveRules {
  return { own: toReserve(own), fallback: toReserve(fallback) };
}

function toReserve(row: ReserveJson | null): ReserveRule | null {
  if (row === null) return null;
  const { percent, hours, days } = row;
  return {
    percentHundredths: BigInt(percent),
    hours: BigInt(hours),
    newForDays: days === null ? null : BigInt(days),
  };
}

export async function findReserveRules(db: Queryable, merchantId: string): Promise<ReserveRules> {
  const row = await db.row<ReserveRow>({
    name: 'merchants_find_reserves',
    text: `SELECT ${reserves} FROM merchants WHERE id = $1`,
    values: [merchantId],
  });
  return toReserves(row ?? { own_reserve: null, default_reserve: null });
}

export const findDefaultReserve = rowBy<ReserveRule, []>({
  name: 'default_reserve_rules_find',
  text: `SELECT percent_hundredths AS "percentHundredths", hours, new_for_days AS "newForDays"
         FROM default_reserve_rules WHERE kind = 'reserve'`,
});

const columns = 'percent_hundredths, hours, new_for_days';
const replaceReserve = `UPDATE SET percent_hundredths = excluded.percent_hundredths, hours = excluded.hours,
             new_for_days = excluded.new_for_days`;

/** Replaces the owner's rule. Existing reserves keep theirs. */
export async function setReserve(
  db: Queryable,
  owner: RuleOwner,
  { percentHundredths, hours, newForDays }: ReserveRule,
): Promise<void> {
  const values = [percentHundredths, hours, newForDays];
  const statement =
    owner === 'default'
      ? {
          name: 'default_reserve_rules_upsert',
          text: `INSERT INTO default_reserve_rules (kind, ${columns}) VALUES ('reserve', $1, $2, $3)
                 ON CONFLICT (kind) DO ${replaceReserve}`,
          values,
        }
      : {
          name: 'reserve_rules_upsert',
          text: `INSERT INTO reserve_rules (merchant_id, ${columns}) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (merchant_id) DO ${replaceReserve}`,
          values: [owner.merchantId, ...values],
        };
  await db.run(statement);
}

/** Returns whether there was one. */
export async function clearReserve(db: Queryable, owner: RuleOwner): Promise<boolean> {
  const statement =
    owner === 'default'
      ? { name: 'default_reserve_rules_delete', text: 'DELETE FROM default_reserve_rules', values: [] }
      : {
          name: 'reserve_rules_delete',
          text: 'DELETE FROM reserve_rules WHERE merchant_id = $1',
          values: [owner.merchantId],
        };
  return (await db.run(statement)) === 1;
}
