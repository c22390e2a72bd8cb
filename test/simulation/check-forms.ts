import { verifyChains } from '../../server/src/chain/verify-chain.ts';
import { collectionFee, noFee, type FeePayer } from '../../server/src/merchants/fees.ts';
import { revokedNarration } from './console-acts.ts';
import type { World } from './world.ts';

// Every process knows within three seconds what was agreed; this leaves room for a slow query.
const knownWithinMs = 6_000;
/** What two people may change at once, each shown what held before: by operators for a merchant or for all, or by its people. */
const changedByTwo = [
  ...(['fees.set', 'transfer-fees.set', 'limits.set', 'settlement.set', 'rate-limits.set', 'receipts.limit'] as const),
  ...(['networks.order', 'fee_payer.set', 'schedule.set', 'refund_limit.set', 'transfer_approval.set'] as const),
  'urls.set',
] as const;
/** Of a fee or a reserve the form shows that of another network or the default where there is none: its changes begin where those end. */
const ofOthers = ['percent', 'fixed', 'minimum', 'maximum', 'hours', 'new_for_days', 'default', 'network'] as const;
/** What can be done once to one thing. */
const doneOnce = [
  ...(['cancelPayment', 'cancelTransfer', 'deleteSubAccount', 'deleteSubAccountGroup', 'keys.create'] as const),
  ...(['keys.revoke', 'networks.add', 'businesses.create', 'businesses.approve'] as const),
] as const;

/**
 * Of what people and operators change at the pages of the dashboard and the console, each change in the audit log begins where another one
 * ends, so that none has undone another; what can be done once stands there once, and is so; and each payment and transfer has a fee that
 * was agreed when it was created.
 */
export async function checkForms(world: World): Promise<string | null> {
  if (!world.consoleActs && !world.dashboard) return null;
  const { findings } = await verifyChains({ db: world.db, clock: world.room.clock.ofMachine() });
  if (findings[0]) return `audit: ${findings[0].what} in the chain of ${findings[0].ownerId}`;
  return (await checkChanges(world)) ?? (await checkDone(world)) ?? checkFees(world);
}

interface FieldChange extends Record<string, unknown> {
  what: string;
  before: string;
  after: string;
}

/** Of all values of a field, the one that held at first begins one change more than end with it, and the last one the other way round. */
async function checkChanges({ room }: World): Promise<string | null> {
  const text = `SELECT concat_ws(' ', action, object_id, change->>'field') AS what,
      COALESCE(change->>'before', '') AS before, COALESCE(change->>'after', '') AS after
    FROM audit_entries CROSS JOIN LATERAL json_array_elements(changes) AS each (change)
    WHERE action = ANY ($1) AND actor_type IN ('member', 'operator') AND result = 'done' AND NOT change->>'field' = ANY ($2)
    ORDER BY created_at, id`;
  const { rows } = await room.shared.database.asOwner<FieldChange>(text, [changedByTwo, ofOthers]);
  for (const [what, changes] of Map.groupBy(rows, (row) => row.what)) {
    const counts = new Map<string, number>();
    const count = (value: string, by: number) => counts.set(value, (counts.get(value) ?? 0) + by);
    for (const { before, after } of changes) {
      count(meaningOf(before), -1);
      count(meaningOf(after), 1);
    }
    const left = [...counts.values()].filter((each) => each !== 0).toSorted((one, other) => one - other);
    if (left.length === 0 || (left.length === 2 && left[0] === -1 && left[1] === 1)) continue;
    return `audit: ${what} changed ${changes.map(({ before, after }) => `from ${before} to ${after}`).join(', ')}`;
  }
  return null;
}

/** The same however an amount is written. */
function meaningOf(text: string): string {
  const plain = text.replaceAll(/[D,]/g, '');
  return plain !== '' && Number.isFinite(Number(plain)) ? String(Number(plain)) : text;
}

async function checkDone({ room, consoleActs }: World): Promise<string | null> {
  const { database } = room.shared;
  const text = `WITH done AS (
      SELECT action, object_id AS id, count(*) AS times FROM audit_entries
      WHERE action = ANY ($1) AND actor_type IN ('member', 'operator') AND result = 'done' GROUP BY 1, 2
    ) SELECT action || ' of ' || id || ' stands in the log ' || times || ' times' AS what FROM done WHERE times > 1
    UNION ALL SELECT action || ' of ' || done.id || ', which is ' || status FROM done JOIN transfers ON transfers.id::text = done.id
      WHERE action = 'cancelTransfer' AND status <> 'cancelled'
    UNION ALL SELECT action || ' of ' || done.id || ', which is ' || status FROM done JOIN payment_intents ON payment_intents.id::text = done.id
      WHERE action = 'cancelPayment' AND status NOT IN ('cancelled', 'successful')
    UNION ALL SELECT action || ' of ' || done.id || ', which is there' FROM done JOIN sub_accounts ON sub_accounts.id::text = done.id
      WHERE action = 'deleteSubAccount' AND deleted_at IS NULL
    UNION ALL SELECT 'key ' || id || ' is revoked, and does not stand in the log' FROM api_keys
      WHERE revoked_at IS NOT NULL AND NOT EXISTS (SELECT FROM done WHERE action = 'keys.revoke' AND done.id = api_keys.id::text)
    UNION ALL SELECT 'transfer ' || id || ' was ordered with a revoked key' FROM transfers WHERE narration = $2
    UNION ALL SELECT 'business ' || name || ' was created ' || count(*) || ' times' FROM businesses WHERE name = ANY ($3) GROUP BY name HAVING count(*) > 1
    UNION ALL SELECT 'business ' || business_id || ' has ' || count(*) || ' invitations of its owner' FROM invitations GROUP BY business_id HAVING count(*) > 1
    UNION ALL SELECT waived || ' was waived, and the ledger has ' || booked FROM (
        SELECT COALESCE(sum((change->>'after')::numeric * 100), 0)::bigint AS waived,
          (SELECT COALESCE(sum(amount), 0) FROM ledger_movements WHERE flow = 'debt_waived') AS booked
        FROM audit_entries CROSS JOIN LATERAL json_array_elements(changes) AS each (change)
        WHERE action = 'waiveSubAccountDebt' AND result = 'done' AND change->>'field' = 'amount'
      ) AS debts WHERE waived <> booked
    UNION ALL SELECT 'settlement runs have ' || results || ' results, and ' || runs || ' were begun' FROM (
        SELECT count(*) FILTER (WHERE action = 'settlement.result') AS results, count(*) FILTER (WHERE action = 'settlement.run') AS runs
        FROM audit_entries
      ) AS begun WHERE results > runs
    UNION ALL SELECT 'settlement runs say ' || said || ' payouts, and there are ' || made FROM (
        SELECT COALESCE(sum((change->>'after')::integer), 0) AS said, (SELECT count(*) FROM settlement_periods WHERE transfer_id IS NOT NULL) AS made
        FROM audit_entries CROSS JOIN LATERAL json_array_elements(changes) AS each (change)
        WHERE action = 'settlement.result' AND change->>'field' = 'payouts'
      ) AS settled WHERE said > made
    ORDER BY 1`;
  const values = [doneOnce, revokedNarration, consoleActs?.businesses ?? []];
  const { rows } = await database.asOwner<{ what: string }>(text, values);
  return rows[0] ? `audit: ${rows[0].what}` : null;
}

interface Agreed extends Record<string, unknown> {
  id: string;
  /** Null is what holds for all that agreed nothing else. */
  merchantId: string | null;
  operation: 'collection' | 'transfer';
  network: string;
  /** Null where another one holds instead. */
  fixed: string | null;
}

interface Charged extends Record<string, unknown> {
  id: string;
  merchantId: string;
  operation: Agreed['operation'];
  network: string;
  payer: FeePayer;
  amount: string;
  fee: string;
}

/** No two forms agree the same fixed part, which is all of a fee here, so that a fee says which one it follows. */
async function checkFees({ room, consoleActs }: World): Promise<string | null> {
  if (!consoleActs) return null;
  const { database } = room.shared;
  const { rows: entries } = await database.asOwner<Agreed>(
    `SELECT id, CASE object_type WHEN 'merchant' THEN object_id END AS "merchantId",
       CASE action WHEN 'fees.set' THEN 'collection' ELSE 'transfer' END AS operation, COALESCE(fields->>'network', 'all') AS network,
       CASE WHEN fields->>'default' IS DISTINCT FROM 'true' THEN fields->>'fixed' END AS fixed
     FROM audit_entries CROSS JOIN LATERAL (SELECT json_object_agg(change->>'field', change->>'after') AS fields
       FROM json_array_elements(changes) AS each (change)) AS listed
     WHERE action IN ('fees.set', 'transfer-fees.set') AND (fields->>'default' = 'true' OR fields->>'fixed' IS NOT NULL)`,
  );
  const agreed = entries.map((entry) => ({ ...entry, fromMs: room.commits.of(entry.id).committedMs }));
  const { rows: charged } = await database.asOwner<Charged>(
    `SELECT id, merchant_id AS "merchantId", 'collection' AS operation, 'all' AS network, fee_payer AS payer, amount::text, fee::text FROM payment_intents
     UNION ALL SELECT id, merchant_id, 'transfer', network, 'business', amount::text, fee::text FROM transfers WHERE kind <> 'refund' ORDER BY 1`,
  );
  for (const { id, merchantId, operation, network, payer, amount, fee } of charged) {
    const { beganMs, committedMs } = room.commits.of(id);
    const levels = [
      [merchantId, network],
      [merchantId, 'all'],
      [null, network],
      [null, 'all'],
    ] as const;
    const possible = feesBetween(
      levels.map((level) => agreed.filter((each) => each.operation === operation && isOf(each, level))),
      { fromMs: beganMs - knownWithinMs, toMs: committedMs },
    );
    const fees = possible.map((fixedMinor) => collectionFee({ ...noFee, fixedMinor, payer }, BigInt(amount)));
    if (!fees.includes(BigInt(fee))) return `fees: ${id} costs ${fee}, and ${fees.join(' or ')} was agreed`;
  }
  return null;
}

function isOf(entry: Agreed, [merchantId, network]: readonly [string | null, string]): boolean {
  return entry.merchantId === merchantId && entry.network === network;
}

/** The fees that may have held: of the first level that has one, and of the next ones where it may have had none. */
function feesBetween(
  levels: readonly (readonly (Agreed & { fromMs: number })[])[],
  { fromMs, toMs }: { fromMs: number; toMs: number },
): bigint[] {
  const fees: bigint[] = [];
  for (const entries of levels) {
    const sorted = entries.toSorted((one, other) => one.fromMs - other.fromMs);
    const last = sorted.findLast((entry) => entry.fromMs <= fromMs);
    const held = [
      last?.fixed ?? null,
      ...sorted.filter((each) => each.fromMs >= (last?.fromMs ?? 0) && each.fromMs <= toMs).map(({ fixed }) => fixed),
    ];
    fees.push(...held.filter((fixed) => fixed !== null).map((fixed) => BigInt(Math.round(Number(fixed) * 100))));
    const isCertain = last !== undefined && last.fixed !== null && !held.includes(null);
    if (isCertain) return fees;
  }
  return [...fees, 0n];
}
