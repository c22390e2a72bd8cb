import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { Capabilities, Connector, PauseReason } from './contract.ts';
import { afterSend, isClear, isOpen, probed } from './pause.ts';
import type { OpenPause, Pause, SendOutcome } from './pause.ts';
import type { PauseCopy } from './pause-copy.ts';
import { callbackName } from './registry.ts';
import type { NetworkRegistry } from './registry.ts';
import { deleteForgottenPauses, findPause, insertPauseOnce, updatePause } from './queries.ts';

/** What pausing works with. One copy a process, handed to everybody in it. */
export interface PauseContext {
  db: Queryable;
  clock: Clock;
  log: Log;
  pauses: PauseCopy;
}

/** What is paused together. Made by `pausePoint`. */
export interface PausePoint {
  network: string;
  testMode: boolean;
  /** Empty for the whole network. Holds a number otherwise, so it is stored and never logged or shown. */
  scope: string;
  /** Whose payouts the point holds, null when it is everybody's; for the log. */
  merchantId: string | null;
  probeLeaseMs: number;
}

export type Permission = { allowed: true } | { allowed: false; retryAt: Date; reason: PauseReason };

// What a probe needs beyond its call: the statements around it, on a machine that is busy.
const probeSlackMs = 2_000;
// Whoever finds a probe under way asks again after this time: so soon do all go out once it has succeeded.
const askAgainAfterMs = 1_000;
// Each round lost was won by another writer, after which there is mostly nothing left to change.
const roundsMax = 10;
// Nobody has had anything to send there for so long; the next send finds out by itself.
const forgottenAfterMs = 60 * 60 * 1_000;

/** The point that a payout of this merchant to this number belongs to; the connector must be one that pays out. */
export function pausePoint(connector: Connector, payout: { merchantId: string; number: string }): PausePoint {
  const { network, testMode, callTimeoutMs } = connector.capabilities;
  assert(connector.payouts, 'a payout goes to a network that pays out');
  const point = { network, testMode, probeLeaseMs: callTimeoutMs + probeSlackMs };
  if (connector.payouts.capabilities.pausedBy === 'network') return { ...point, scope: '', merchantId: null };
  return { ...point, scope: `${payout.merchantId}:${payout.number}`, merchantId: payout.merchantId };
}

/**
 * Whether a payout may be sent now. Ask right before the send, outside any transaction, and report how it ended with
 * `reportPayout`: while the point is paused, one send is let through as a probe at a time, and everybody else waits for
 * its report (or for its lease to end). A send that is not allowed comes again at `retryAt`.
 *
 * Costs no statement while nothing is known against the point.
 */
export async function mayPayOut(context: PauseContext, point: PausePoint): Promise<Permission> {
  const known = await findInCopy(context, point);
  if (!known || !isOpen(known)) return { allowed: true };
  for (let round = 0; round < roundsMax; round += 1) {
    // The copy may be a second behind the end of the pause, and whoever waited for that end asks right then.
    const pause = await findPause(context.db, point);
    if (!pause || !isOpen(pause)) {
      context.pauses.forget();
      return { allowed: true };
    }
    const now = context.clock.now();
    if (pause.retryAt > now) return { allowed: false, retryAt: comeAgainAt(pause, now), reason: pause.reason };
    const probing = probed(pause, addMs(now, point.probeLeaseMs));
    if ((await updatePause(context.db, probing, now)) === 1) return { allowed: true };
  }
  return { allowed: false, retryAt: addMs(context.clock.now(), askAgainAfterMs), reason: known.reason };
}

/**
 * Reports how a send ended, outside any transaction; what follows for the point is written for all processes. Of sends
 * only: look-ups always run, and an answer to one does not say that payouts are taken.
 *
 * A documented reason pauses at once, `unclear` after five in a row; `answered` ends a pause. Answers when a send that
 * did not get through may come again.
 */
export async function reportPayout(
  context: PauseContext,
  point: PausePoint,
  outcome: SendOutcome,
): Promise<{ retryAt: Date }> {
  const known = await findInCopy(context, point);
  const isNews = outcome !== 'answered' || (known !== undefined && !isClear(known));
  for (let round = 0; isNews && round < roundsMax; round += 1) {
    const now = context.clock.now();
    const before = (await findPause(context.db, point)) ?? unknownPoint(point);
    const after = afterSend(before, outcome, now);
    if (after !== before && (await writePause(context, after, now)) === 0) continue;
    if (after !== before) tell(context, point, before, after);
    return { retryAt: isOpen(after) ? comeAgainAt(after, now) : now };
  }
  return { retryAt: context.clock.now() };
}

/** What is paused, for the operator's eyes: it names networks, never a merchant or a number. */
export interface PauseSummary {
  /** Every network that pays out, live ones first, by the name in its callbacks' address. */
  networks: { name: string; capabilities: Capabilities; pause: OpenPause | null }[];
  /** Pauses of one merchant's payouts to one number. */
  scopedCount: number;
}

/** Costs at most one statement a second. */
export async function summarizePauses({
  db,
  clock,
  pauses,
  networks,
}: Pick<PauseContext, 'db' | 'clock' | 'pauses'> & { networks: NetworkRegistry }): Promise<PauseSummary> {
  const open = (await pauses.read(db, clock)).filter(isOpen);
  const paying = [...networks.list(false), ...networks.list(true)].filter((connector) => connector.payouts !== null);
  return {
    networks: paying.map((connector) => {
      const { network, testMode } = connector.capabilities;
      const pause = open.find((found) => isAt(found, { network, testMode, scope: '' })) ?? null;
      return { name: callbackName(connector), capabilities: connector.capabilities, pause };
    }),
    scopedCount: open.filter(({ scope }) => scope !== '').length,
  };
}

/** Removes what nobody has sent anything to for an hour. Answers how many. */
export function purgePauses({ db, clock }: Pick<PauseContext, 'db' | 'clock'>): Promise<number> {
  return deleteForgottenPauses(db, addMs(clock.now(), -forgottenAfterMs));
}

async function findInCopy(context: PauseContext, point: PausePoint): Promise<Pause | undefined> {
  const pauses = await context.pauses.read(context.db, context.clock);
  return pauses.find((pause) => isAt(pause, point));
}

type Place = Pick<Pause, 'network' | 'testMode' | 'scope'>;

function isAt(pause: Pause, { network, testMode, scope }: Place): boolean {
  return pause.network === network && pause.testMode === testMode && pause.scope === scope;
}

function unknownPoint({ network, testMode, scope }: PausePoint): Pause {
  const nothing = { reason: null, since: null, retryAt: null, isProbing: false };
  return { network, testMode, scope, ...nothing, failedProbes: 0n, unclearInARow: 0n, version: 0n };
}

/** A probe that is under way may end at any moment; one that is not begins at `retryAt`. */
function comeAgainAt({ isProbing, retryAt }: OpenPause, now: Date): Date {
  const soon = addMs(now, askAgainAfterMs);
  return isProbing && soon < retryAt ? soon : retryAt;
}

async function writePause({ db, pauses }: PauseContext, pause: Pause, now: Date): Promise<number> {
  const touched = pause.version === 0n ? await insertPauseOnce(db, pause, now) : await updatePause(db, pause, now);
  pauses.forget();
  return touched;
}

/** Whoever made the change says so, once. */
function tell({ log }: PauseContext, point: PausePoint, before: Pause, after: Pause): void {
  const network = point.testMode ? `${point.network}-test` : point.network;
  const fields = { network, merchant_id: point.merchantId };
  if (isOpen(after) && !isOpen(before)) log.warn('payouts are paused', { ...fields, reason: after.reason });
  if (isOpen(before) && !isOpen(after)) log.info('payouts go out again', { ...fields, reason: before.reason });
}
