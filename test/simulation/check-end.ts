import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { verifyHolds } from '../../server/src/transfers/verify-holds.ts';
import { keyIdOf } from '../../server/src/kit/seal.ts';
import { countSealed } from '../../server/src/operator/reseal-secrets.ts';
import { checkConsole, checkDashboard } from './check-dashboard.ts';
import { checkForms } from './check-forms.ts';
import { checkOversight } from './check-oversight.ts';
import { checkPauses } from './check-pauses.ts';
import { checkSettings } from './check-settings.ts';
import { checkTeam } from './check-team.ts';
import type { FalseKind } from './contradictions.ts';
import { ownAccountName, secondAccountName } from './own-account.ts';
import type { World } from './world.ts';

// What `translateError` says of timeouts and lost connections.
const databaseFault = 'Try again in a second';
// Workers look for payments whose time is over every ten seconds.
const expiryMs = 60_000;

/** Open work and undelivered events; a run ends when there are none. */
export async function listUnfinished({ room, till }: Pick<World, 'room' | 'till'>): Promise<string[]> {
  // Of a payment to the shop's own number: it may wait for the statement for a week.
  const isOpenAtTill = (chargeId: string) => `EXISTS (SELECT FROM charges waiting JOIN payment_intents intents
      ON intents.merchant_id = waiting.merchant_id AND intents.id = intent_id
    WHERE waiting.id = ${chargeId} AND received_directly AND (expires_at > $1 OR EXISTS (SELECT FROM typed_ids
      WHERE typed_ids.merchant_id = waiting.merchant_id AND charge_id = waiting.id AND state IN ('waiting', 'contested'))))`;
  const text = `SELECT 'transfer ' || id || ' is ' || status AS what FROM transfers WHERE status NOT IN ('completed', 'failed', 'reversed', 'cancelled')
      AND NOT EXISTS (SELECT FROM cases
        WHERE cases.merchant_id = transfers.merchant_id AND subject_id = transfers.id AND kind <> 'outcome_unknown')
    UNION ALL SELECT 'charge ' || id || ' is ' || status || ' ' || progress || ' at ' || network FROM charges
      WHERE status = 'pending' AND NOT ${isOpenAtTill('charges.id')} AND NOT EXISTS (SELECT FROM cases
        WHERE cases.merchant_id = charges.merchant_id AND subject_id = charges.id AND kind <> 'outcome_unknown')
    UNION ALL SELECT 'work ' || kind || ' of ' || subject_id FROM outbox
      WHERE NOT (kind = 'look_up_charge' AND ${isOpenAtTill('subject_id')})
    UNION ALL SELECT 'callback ' || id FROM network_inbox WHERE due_at IS NOT NULL
    UNION ALL SELECT 'delivery ' || event_id FROM webhook_deliveries WHERE status = 'pending'
    UNION ALL SELECT 'callback of the network ' || subject_id FROM simulator.callbacks`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [new Date(room.clock.passedMs)]);
  const unfinished = rows.map(({ what }) => what);
  return till.toForward > 0 ? [...unfinished, `${till.toForward} messages of the shop's own number`] : unfinished;
}

/** The first promise that the run has broken; null if it kept all. */
export async function findViolation(world: World): Promise<string | null> {
  const checks = [
    checkLedger,
    checkNetworks,
    checkContradictions,
    checkForged,
    checkEvents,
    checkSequences,
    checkStates,
    checkKnown,
    checkPayouts,
    checkDashboard,
    checkConsole,
    checkSettings,
    checkTeam,
    checkOversight,
    checkForms,
    checkPauses,
    checkWaiting,
    checkSealed,
    checkLogs,
  ];
  for (const check of checks) {
    const violation = await check(world);
    if (violation !== null) return violation;
  }
  return null;
}

async function checkLedger({ db }: World): Promise<string | null> {
  const { finding } = await verifyLedger(db);
  if (finding) return `ledger: ${finding.check}: ${finding.message}`;
  const hold = await verifyHolds(db);
  return hold && `holds: ${hold.message}`;
}

/** What is held for each merchant behind each rail account (its own account has the wallet of the one for all), by the networks' books and by our ledger; but for what they contradicted. */
async function checkNetworks({ room, traffic }: World): Promise<string | null> {
  const text = `WITH theirs AS (
      SELECT account, CASE network WHEN 'wave' THEN 'wave-test' WHEN 'aps' THEN 'gsma-test' ELSE '54pay-test' END AS rail,
        amount_paid AS amount
      FROM simulator.sessions WHERE CASE WHEN planned_at <= $1 THEN planned_status ELSE status END = 'complete'
        AND reference <> ALL ($2)
      UNION ALL SELECT account, CASE network WHEN 'wave' THEN 'wave-test' ELSE 'gsma-test' END, -amount
      FROM simulator.payouts WHERE CASE WHEN planned_at <= $1 THEN planned_status ELSE status END = 'completed'
        AND COALESCE(client_reference, reference) <> ALL ($2)
    ), contradicted AS (
      SELECT id FROM charges WHERE reference = ANY ($2) UNION ALL SELECT id FROM transfers WHERE reference = ANY ($2)
    ), movements AS (
      SELECT * FROM ledger_movements WHERE source_id NOT IN (SELECT id FROM contradicted)
    ), moved AS (
      SELECT merchant_id, debit_account AS account, amount FROM movements
      UNION ALL SELECT merchant_id, credit_account, -amount FROM movements
    ), ours AS (
      SELECT m.short_id AS account, CASE WHEN substr(l.account, length('float:') + 1) = ANY ($3) THEN 'gsma-test' ELSE substr(l.account, length('float:') + 1) END AS rail, l.amount
      FROM moved l JOIN merchants m ON m.id = l.merchant_id WHERE l.account LIKE 'float:%'
    ), compared AS (
      SELECT account, rail, amount AS at_network, 0 AS in_ledger FROM theirs
      UNION ALL SELECT account, rail, 0, amount FROM ours
    )
    SELECT rail || ' holds ' || sum(at_network) || ' for ' || account || ', the ledger says ' || sum(in_ledger) AS what
    FROM compared GROUP BY account, rail HAVING sum(at_network) <> sum(in_ledger) ORDER BY 1`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [
    ...[new Date(room.clock.passedMs), contradictedReferences(traffic), [ownAccountName, secondAccountName]],
  ]);
  return rows[0] ? `networks: ${rows[0].what}` : null;
}

const contradictedReferences = ({ contradictions }: Pick<World['traffic'], 'contradictions'>): string[] =>
  contradictions.filter(({ kind }) => decidingKinds.has(kind)).map(({ reference }) => reference);
// A callback that nobody signed decides nothing, and a forged one is refused.
const decidingKinds: ReadonlySet<string> = new Set<FalseKind>(['false_look_up', 'false_amount', 'signed_callback']);

/**
 * What differs from a network's books, in its outcome or its amount, after the network said what was not so has a case or a difference,
 * and what a false line is about, or was booked and has no line, has a difference; a case is enough where the line may repeat what the
 * network said before.
 */
async function checkContradictions({ room, traffic }: World): Promise<string | null> {
  const text = `WITH named AS (
      SELECT merchant_id, id, 'charge' AS kind, reference, network_transaction_id AS transaction_id,
        (SELECT sum(amount_paid) FROM simulator.sessions s WHERE s.reference = charges.reference
          AND CASE WHEN planned_at <= $1 THEN planned_status ELSE s.status END = 'complete') AS theirs FROM charges
      UNION ALL SELECT merchant_id, id, 'transfer', reference, network_transaction_id,
        (SELECT -sum(amount) FROM simulator.payouts p WHERE COALESCE(client_reference, p.reference) = transfers.reference
          AND CASE WHEN planned_at <= $1 THEN planned_status ELSE p.status END = 'completed') FROM transfers
    ), records AS (
      SELECT merchant_id, id, kind, reference, transaction_id, COALESCE(theirs, 0) AS theirs, COALESCE((
        SELECT sum(CASE WHEN debit_account LIKE 'float:%' THEN amount ELSE -amount END) FROM ledger_movements moved
        WHERE moved.merchant_id = named.merchant_id AND source_id = named.id
          AND (debit_account LIKE 'float:%') <> (credit_account LIKE 'float:%')
      ), 0) AS ours FROM named
    )
    SELECT kind || ' ' || id || ' differs from what its network did, and has neither case nor difference' AS what FROM records
    WHERE NOT EXISTS (SELECT FROM reconciliation_differences WHERE subject_id = records.id)
      AND NOT (reference = ANY ($2) AND EXISTS (SELECT FROM cases WHERE subject_id = records.id))
      AND (reference = ANY ($2) AND ours <> theirs OR transaction_id = ANY ($3)
        OR EXISTS (SELECT FROM ledger_movements moved WHERE moved.merchant_id = records.merchant_id AND source_id = records.id
          AND (debit_account LIKE 'float:%' AND transaction_id = ANY ($4) OR credit_account LIKE 'float:%' AND transaction_id = ANY ($5))))`;
  const lines = (kind: FalseKind, isIncoming?: boolean) =>
    traffic.contradictions
      .filter((one) => one.kind === kind && one.isIncoming === isIncoming)
      .map(({ reference }) => reference);
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [
    new Date(room.clock.passedMs),
    contradictedReferences(traffic),
    lines('false_statement'),
    lines('missing_line', true),
    lines('missing_line', false),
  ]);
  return rows[0] ? `contradictions: ${rows[0].what}` : null;
}

/** Nothing that its network has not signed was accepted. */
async function checkForged({ traffic }: World): Promise<string | null> {
  const accepted = traffic.forged.find((status) => status < 400);
  return accepted === undefined ? null : `callbacks: a forged one was answered with ${accepted}`;
}

async function checkEvents({ room, traffic }: World): Promise<string | null> {
  const { rows } = await room.shared.database.asOwner<{ id: string; kind: string }>(
    'SELECT id, kind FROM events ORDER BY id',
  );
  const missing = rows.find(({ id }) => !traffic.receivers.accepted.has(id));
  if (missing) return `events: ${missing.kind} ${missing.id} was not delivered`;
  const stored = new Set(rows.map(({ id }) => id));
  const invented = [...traffic.receivers.accepted.keys()].find((id) => !stored.has(id));
  return invented === undefined ? null : `events: ${invented} was delivered and does not exist`;
}

/** What a merchant was told exists, exists. */
async function checkKnown({ room, acts }: World): Promise<string | null> {
  const { rows } = await room.shared.database.asOwner<{ id: string }>(
    'SELECT id FROM transfers UNION ALL SELECT id FROM payment_intents',
  );
  const stored = new Set(rows.map(({ id }) => id));
  const lost = [...acts.payments, ...acts.transfers].find(({ id }) => !stored.has(id));
  return lost ? `records: ${lost.id} was accepted and is lost` : null;
}

/** Each payout of a sub-account was requested by its merchant, or is the one of a period. */
async function checkPayouts({ room, acts, dashboard }: World): Promise<string | null> {
  if (dashboard) return null;
  const text = `SELECT id FROM transfers WHERE kind = 'sub_account_payout' AND id <> ALL ($1)
    AND NOT EXISTS (SELECT FROM settlement_periods p WHERE p.merchant_id = transfers.merchant_id AND p.transfer_id = transfers.id)`;
  const { rows } = await room.shared.database.asOwner<{ id: string }>(text, [acts.payouts]);
  return rows[0] ? `payouts: nobody has requested ${rows[0].id}, and it is of no period` : null;
}

/** A payment for which nobody has paid in time has ended, and a payout that is never settled has ended by a case. */
async function checkWaiting({ room, unsettled }: World): Promise<string | null> {
  const text = `SELECT 'payment ' || id || ' is ' || status || ', and its time is over' AS what FROM payment_intents
    WHERE status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at < $1 ORDER BY id`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text, [
    new Date(room.clock.passedMs - expiryMs),
  ]);
  return rows[0] ? `waiting: ${rows[0].what}` : unsettled.check({ room });
}

/** Nothing is left that only a seal key can open which the instances do not have any more. */
async function checkSealed({ room, db }: World): Promise<string | null> {
  const known = new Set(room.sealKeys.map(keyIdOf));
  const closed = (await countSealed(db)).find(({ keyId }) => !known.has(keyId));
  return closed ? `sealed: ${closed.count} ${closed.what} under a key that is gone` : null;
}

/** Each change that counted an event has written it. */
async function checkSequences({ room }: World): Promise<string | null> {
  const text = `SELECT record.kind || ' ' || id || ' has counted ' || event_sequence || ' events and written '
      || (SELECT count(*) FROM events WHERE object_id = record.id) AS what
    FROM (SELECT 'charge' AS kind, id, event_sequence FROM charges UNION ALL SELECT 'transfer', id, event_sequence FROM transfers
      UNION ALL SELECT 'payment', id, event_sequence FROM payment_intents) record
    WHERE event_sequence <> (SELECT count(*) FROM events WHERE object_id = record.id) ORDER BY 1`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text);
  return rows[0] ? `events: ${rows[0].what}` : null;
}

/** What has ended is final, and what has an outcome has its movements. */
async function checkStates({ room }: World): Promise<string | null> {
  const text = `SELECT 'charge ' || id || ' is ' || status || ' and ' || progress AS what FROM charges
      WHERE CASE WHEN status IN ('completed', 'failed') THEN progress <> 'final' ELSE status = 'pending' AND progress = 'final' END
    UNION ALL SELECT 'charge ' || id || ' is completed by another amount than ' || amount_paid FROM charges WHERE status = 'completed'
      AND amount_paid <> (SELECT sum(amount) FROM ledger_movements WHERE source_id = charges.id
        AND merchant_id = charges.merchant_id AND flow = 'collected' AND debit_account LIKE 'float:%')
    UNION ALL SELECT 'sub-account ' || id || ' was deleted and has ' || balance FROM (
        SELECT sub_accounts.id, sum(CASE WHEN side.account = credit_account THEN amount ELSE -amount END) AS balance
        FROM sub_accounts CROSS JOIN LATERAL (VALUES ('sub:' || id), ('sub:' || id || ':pending')) AS side (account)
        JOIN ledger_movements moved ON moved.merchant_id = sub_accounts.merchant_id
          AND (debit_account = side.account OR credit_account = side.account)
        WHERE deleted_at IS NOT NULL GROUP BY sub_accounts.id
      ) AS deleted WHERE balance <> 0
    UNION ALL SELECT 'charge ' || id || ' is completed and was not booked' FROM charges WHERE status = 'completed'
      AND NOT EXISTS (SELECT FROM ledger_movements WHERE source_id = charges.id AND merchant_id = charges.merchant_id)
    ORDER BY 1`;
  const { rows } = await room.shared.database.asOwner<{ what: string }>(text);
  return rows[0] ? `states: ${rows[0].what}` : null;
}

/** No fault that a run makes is a reason for an error in the log, but for those of the database. */
async function checkLogs({ room }: World): Promise<string | null> {
  const line = room.logLines.find((one) => one.includes('"level":"error"') && !one.includes(databaseFault));
  return line === undefined ? null : `log: ${line.slice(0, 300)}`;
}
