import { isDeepStrictEqual } from 'node:util';
import { ownAccountName } from './own-account.ts';
import type { World } from './world.ts';

/**
 * What operators have done at the console to look after a business stands in the audit log once: it was suspended and lifted, and its
 * account was paused and resumed, in turn, and each limit was agreed by somebody who was shown the one before it.
 */
export async function checkOversight({ room, oversight }: World): Promise<string | null> {
  if (!oversight) return null;
  const { database } = room.shared;
  const count = (action: string, object: string) =>
    `(SELECT count(*) FROM audit_entries WHERE action = '${action}' AND result = 'done' AND object_id = ${object})`;
  const text = `SELECT what FROM (
      SELECT 'business ' || name || ' was suspended ' || ${count('businesses.suspend', 'businesses.id::text')} || ' times and lifted '
        || ${count('businesses.lift_suspension', 'businesses.id::text')} AS what,
        ${count('businesses.suspend', 'businesses.id::text')} - ${count('businesses.lift_suspension', 'businesses.id::text')} = (suspended_at IS NOT NULL)::integer AS is_so
      FROM businesses
      UNION ALL SELECT name || ' was paused ' || ${count('networks.disable', 'rail_accounts.name')} || ' times and resumed ' || ${count('networks.enable', 'rail_accounts.name')},
        ${count('networks.disable', 'rail_accounts.name')} - ${count('networks.enable', 'rail_accounts.name')} = (disabled_at IS NOT NULL)::integer
      FROM rail_accounts WHERE name = $1
    ) AS counted WHERE NOT is_so ORDER BY 1`;
  const { rows } = await database.asOwner<{ what: string }>(text, [ownAccountName]);
  return rows[0] ? `audit: ${rows[0].what}` : checkLimits(room);
}

/** What holds at first and what each has agreed was shown to one who agreed the next, and the last one holds. */
async function checkLimits({ shared: { database } }: World['room']): Promise<string | null> {
  const { rows: changes } = await database.asOwner<{ merchantId: string; before: string | null; after: string | null }>(
    `SELECT object_id AS "merchantId", change->>'before' AS before, change->>'after' AS after
     FROM audit_entries CROSS JOIN LATERAL json_array_elements(changes) AS each (change)
     WHERE action = 'limits.set' AND result = 'done' AND change->>'field' = 'largest' ORDER BY created_at, id`,
  );
  const { rows: stored } = await database.asOwner<{ merchantId: string; amount: string }>(
    `SELECT merchant_id AS "merchantId", amount::text AS amount FROM transfer_limits WHERE kind = 'largest'`,
  );
  const [current] = stored.map(({ amount }) => Number(amount) / 100);
  const held = ['0', ...changes.map(({ after }) => String(Number(after)))].toSorted();
  const replaced = [...changes.map(({ before }) => String(Number(before))), String(current ?? 0)].toSorted();
  if (isDeepStrictEqual(held, replaced)) return null;
  const listed = changes.map(({ before, after }) => `from ${before} to ${after}`).join(', ');
  return `audit: the largest transfer is ${current} after ${listed}`;
}
