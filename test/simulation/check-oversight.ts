import { ownAccountName } from './own-account.ts';
import type { World } from './world.ts';

/**
 * What operators have done at the console to look after a business stands in the audit log once: it was suspended and lifted, and its
 * account was paused and resumed, in turn.
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
  return rows[0] ? `audit: ${rows[0].what}` : null;
}
