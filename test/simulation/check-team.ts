import { verifyChains } from '../../server/src/chain/verify-chain.ts';
import { stolenNarration } from './team.ts';
import type { World } from './world.ts';

/**
 * What was posted with a revoked key did nothing; each key that was rolled or revoked stands in the audit log once; and from what the log
 * says of the developer's role follows the role that the developer has.
 */
export async function checkTeam(world: World): Promise<string | null> {
  const { team, room, db } = world;
  if (!team) return null;
  const { database } = room.shared;
  const stolen = await database.asOwner<{ id: string }>('SELECT id FROM transfers WHERE narration = $1', [
    stolenNarration,
  ]);
  if (stolen.rows[0]) return `keys: transfer ${stolen.rows[0].id} was ordered with a revoked key`;
  const text = `SELECT what || ' ' || id || ' stands in the log ' || logged || ' times' AS what FROM (
      SELECT 'revoked key' AS what, id, (SELECT count(*) FROM audit_entries WHERE action = 'keys.revoke' AND object_id = api_keys.id::text) AS logged
      FROM api_keys WHERE revoked_at IS NOT NULL
      UNION ALL SELECT 'new key', rolled_to, (SELECT count(*) FROM audit_entries WHERE action = 'keys.roll' AND object_id = rolled_to::text)
      FROM api_keys WHERE rolled_to IS NOT NULL
    ) AS keys WHERE logged <> 1 ORDER BY 1`;
  const { rows } = await database.asOwner<{ what: string }>(text);
  if (rows[0]) return `audit: ${rows[0].what}`;
  const { findings } = await verifyChains({ db, clock: room.clock.ofMachine() });
  if (findings[0]) return `audit: ${findings[0].what} in the chain of ${findings[0].ownerId}`;
  return checkRole(world, team.developerId);
}

interface RoleChange {
  action: string;
  before: string | null;
  after: string | null;
}

/** Each entry begins where another one ends: the developer was one at first, and has the role that the last one gave, or none. */
async function checkRole({ room }: World, accountId: string): Promise<string | null> {
  const { database } = room.shared;
  const { rows: changes } = await database.asOwner<RoleChange & Record<string, unknown>>(
    `SELECT action, change->>'before' AS before, change->>'after' AS after FROM audit_entries
     CROSS JOIN LATERAL (SELECT * FROM json_array_elements(changes) AS each (change) WHERE change->>'field' = 'role'
       UNION ALL SELECT NULL WHERE NOT EXISTS (SELECT FROM json_array_elements(changes) AS each (change) WHERE change->>'field' = 'role')) AS listed
     WHERE action IN ('team.change_role', 'team.remove', 'team.join') AND result = 'done'
       AND (object_id = $1 OR action = 'team.join' AND actor_id::text = $1) ORDER BY created_at, id`,
    [accountId],
  );
  const { rows: members } = await database.asOwner<{ role: string }>(
    'SELECT role FROM memberships WHERE account_id::text = $1',
    [accountId],
  );
  const counts = new Map<string | null, number>([['developer', 1]]);
  const count = (role: string | null, by: number) => counts.set(role, (counts.get(role) ?? 0) + by);
  for (const { before, after } of changes) {
    count(before, -1);
    count(after, 1);
  }
  count(members[0]?.role ?? null, -1);
  if ([...counts.values()].every((left) => left === 0)) return null;
  const listed = changes.map(({ action, before, after }) => `${action} from ${before} to ${after}`).join(', ');
  return `audit: the developer is ${members[0]?.role ?? 'removed'} after ${listed}`;
}
