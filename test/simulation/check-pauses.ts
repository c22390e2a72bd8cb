import type { World } from './world.ts';

/** While a network was paused, its merchant began nothing there. */
export async function checkPauses({ room, networkPauses, merchants, hasClockJumps }: World): Promise<string | null> {
  // The times of what was written tell nothing then.
  if (hasClockJumps) return null;
  for (const { fromMs, toMs } of networkPauses.pauses) {
    const text = `SELECT 'attempt ' || id AS what FROM charges WHERE merchant_id = $1 AND created_at > $2 AND created_at < $3
      UNION ALL SELECT 'transfer ' || id FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND created_at > $2 AND created_at < $3`;
    const times = [new Date(fromMs), new Date(toMs)];
    const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [merchants[0]?.merchantId, ...times]);
    if (rows[0]) return `pauses: ${rows[0].what} began while the network was paused`;
  }
  return null;
}
