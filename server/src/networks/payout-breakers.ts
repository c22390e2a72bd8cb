import { assert } from '../kit/assert.ts';
import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import { RecentCopy } from '../kit/recent-copy.ts';
import {
  afterArrival,
  afterSend,
  closedBreaker,
  halfOpened,
  isClear,
  isOpen,
  type BreakerKey,
  type CircuitBreaker,
  type OpenBreaker,
  type SendOutcome,
} from './circuit-breaker.ts';
import { paysOut, type Capabilities, type Connector, type UnavailableReason } from './contract.ts';
import type { NetworkRegistry } from './registry.ts';
import { deleteUnusedBreakers, findBreaker, insertBreakerOnce, listBreakers, updateBreaker } from './queries.ts';

// Real networks need a handful; test numbers could have more. If a breaker is left out, its payout is sent, and the network
// refuses it again.
const rowsMax = 1_000n;

/** A process's copy of the circuit breakers that are open or have counted failures, at most a second old. */
export class BreakerCopy {
  readonly #copy = new RecentCopy<CircuitBreaker[]>();

  read(db: Queryable, clock: Clock): Promise<CircuitBreaker[]> {
    return this.#copy.read(clock, () => listBreakers(db, rowsMax));
  }

  /** Drops the copy: the next read goes to the database. */
  forget(): void {
    this.#copy.forget();
  }
}

/** Dependencies of the payout breakers; a process has one copy for all of them. */
export interface BreakerContext {
  db: Queryable;
  clock: Clock;
  log: Log;
  breakers: BreakerCopy;
}

/** A payout's merchant and the breakers that it depends on, the narrowest first. Created by `payoutBreakers`. */
export interface PayoutBreakers {
  merchantId: string;
  keys: readonly BreakerKey[];
  /** How long a trial may take before it counts as lost. */
  trialLeaseMs: number;
}

export type PayoutPermit = { allowed: true } | { allowed: false; retryAt: Date; reason: UnavailableReason };

// What a trial needs beyond its call: the statements around it, on a busy machine.
const trialSlackMs = 2_000;
// While a trial is in flight, other payouts check again after this time, so they follow within it once the trial succeeds.
const retryAfterMs = 1_000;
// How long a merchant whose own breaker is open leaves the network's trial to others, whose payouts fail only if the network
// does.
const yieldTrialMs = 2_000;
// Each lost round was won by another writer, after which there is usually nothing left to change.
const roundsMax = 10;
// A breaker without sends for so long is deleted; the next send finds out the network's state by itself.
const unusedForMs = 60 * 60 * 1_000;

/** The breakers of this merchant's payouts to this number. The connector must be one that pays out. */
export function payoutBreakers(connector: Connector, payout: { merchantId: string; number: string }): PayoutBreakers {
  const { network, testMode, railAccount, callTimeoutMs } = connector.capabilities;
  assert(connector.payouts, 'a payout goes to a network that pays out');
  const { merchantId, number } = payout;
  const scopes =
    connector.payouts.capabilities.breakerScope === 'network' ? [merchantId, ''] : [`${merchantId}:${number}`];
  const keys = scopes.map((scope) => ({ network, testMode, railAccount, scope }));
  return { merchantId, keys, trialLeaseMs: callTimeoutMs + trialSlackMs };
}

/**
 * Acquires permission to send a payout now. Call it right before the send, outside any transaction, and report the outcome
 * with `reportPayout`: while a breaker is open, it lets one send through at a time as a trial, and all others wait for
 * that report (or for the end of its lease). A payout that is not allowed tries again at `retryAt`. While the network's
 * breaker is open, it alone decides.
 *
 * Costs no statement while the breakers are closed.
 */
export async function acquirePayoutPermit(context: BreakerContext, payout: PayoutBreakers): Promise<PayoutPermit> {
  const open = (await findInCopy(context, payout)).filter(isOpen);
  for (const [index, known] of open.toReversed().entries()) {
    const isNarrowerOpen = index < open.length - 1;
    const permit = await acquireTrialPermit(context, { known, payout, waitMs: isNarrowerOpen ? yieldTrialMs : 0 });
    if (permit) return permit;
  }
  return { allowed: true };
}

/** Undefined when the breaker is closed by now. */
async function acquireTrialPermit(
  context: BreakerContext,
  { known, payout, waitMs }: { known: OpenBreaker; payout: PayoutBreakers; waitMs: number },
): Promise<PayoutPermit | undefined> {
  for (let round = 0; round < roundsMax; round += 1) {
    // The copy may be a second behind, and payouts that waited for the closing arrive right after it.
    const breaker = await findBreaker(context.db, known);
    if (!breaker || !isOpen(breaker)) {
      context.breakers.forget();
      return undefined;
    }
    const now = context.clock.now();
    const retryAt = addMs(nextTryAt(breaker, now), waitMs);
    if (retryAt > now) return { allowed: false, retryAt, reason: breaker.reason };
    const trial = halfOpened(breaker, addMs(now, payout.trialLeaseMs));
    if ((await updateBreaker(context.db, trial, now)) === 1) return { allowed: true };
  }
  return { allowed: false, retryAt: addMs(context.clock.now(), retryAfterMs), reason: known.reason };
}

/**
 * Reports how a send ended, outside any transaction, and updates the breakers for all processes.
 *
 * A documented reason opens the network's breaker at once. Five consecutive `unclear` sends open the merchant's, and the
 * network's too if they are of three merchants; `answered` closes both.
 */
export async function reportPayout(
  context: BreakerContext,
  payout: PayoutBreakers,
  outcome: SendOutcome,
): Promise<void> {
  const known = await findInCopy(context, payout);
  const isDocumented = outcome !== 'answered' && outcome !== 'unclear';
  const keys = isDocumented ? payout.keys.slice(-1) : payout.keys;
  for (const key of keys) {
    const isKnown = known.some((breaker) => isAt(breaker, key) && !isClear(breaker));
    if (outcome === 'answered' && !isKnown) continue;
    await updateWith(context, { key, payout }, (breaker, now) =>
      afterSend(breaker, { outcome, merchantId: payout.merchantId }, now),
    );
  }
}

/**
 * Reports that a look-up or a callback shows a send to have arrived whose response was lost. Closes the breakers that this
 * refutes, and resets their counts. Costs no statement while there are none.
 */
export async function reportArrival(context: BreakerContext, payout: PayoutBreakers, sentAt: Date): Promise<void> {
  const known = (await findInCopy(context, payout)).filter((breaker) => !isClear(breaker));
  const arrival = { sentAt, silenceMs: payout.trialLeaseMs };
  for (const key of known) await updateWith(context, { key, payout }, (breaker) => afterArrival(breaker, arrival));
}

/** The open breakers, for the operator: it names networks, never a merchant or a number. */
export interface BreakerSummary {
  networks: {
    capabilities: Capabilities;
    /** The network's breaker, unless it is closed. */
    open: OpenBreaker | null;
    /** How many merchants' own breakers are open there. */
    merchantCount: number;
  }[];
  /** Open breakers of one merchant's payouts to one number. */
  numberCount: number;
}

/** Lists every network that pays out. Costs at most one statement a second. */
export async function summarizeBreakers({
  db,
  clock,
  breakers,
  networks,
}: Pick<BreakerContext, 'db' | 'clock' | 'breakers'> & { networks: NetworkRegistry }): Promise<BreakerSummary> {
  const open = (await breakers.read(db, clock)).filter(isOpen);
  const paying = [...networks.list(false), ...networks.list(true)].filter(paysOut);
  return {
    networks: paying.map((connector) => {
      const { capabilities } = connector;
      const there = open.filter((breaker) => isOfNetwork(breaker, capabilities));
      return {
        capabilities,
        open: there.find(({ scope }) => scope === '') ?? null,
        merchantCount: there.filter((breaker) => isOfMerchant(breaker)).length,
      };
    }),
    numberCount: open.filter(({ scope }) => scope.includes(':')).length,
  };
}

/** An open breaker with whose payouts wait: null for all of the network's. */
export type OpenBreakerOf = Omit<OpenBreaker, 'scope'> & { merchantId: string | null };

/** Every open breaker, without the numbers of those that are of one number. Costs at most one statement a second. */
export async function listOpenBreakers({
  db,
  clock,
  breakers,
}: Pick<BreakerContext, 'db' | 'clock' | 'breakers'>): Promise<OpenBreakerOf[]> {
  const open = (await breakers.read(db, clock)).filter(isOpen);
  return open.map(({ scope, ...breaker }) => ({ ...breaker, merchantId: scope.split(':')[0] || null }));
}

/** Deletes breakers without a send for an hour. Returns how many. */
export function purgeBreakers({ db, clock }: Pick<BreakerContext, 'db' | 'clock'>): Promise<number> {
  return deleteUnusedBreakers(db, addMs(clock.now(), -unusedForMs));
}

/** In the order of the keys: the narrowest first. */
async function findInCopy(context: BreakerContext, { keys }: PayoutBreakers): Promise<CircuitBreaker[]> {
  const breakers = await context.breakers.read(context.db, context.clock);
  return keys.flatMap((key) => breakers.find((breaker) => isAt(breaker, key)) ?? []);
}

function isAt(breaker: BreakerKey, key: BreakerKey): boolean {
  return isOfNetwork(breaker, key) && breaker.scope === key.scope;
}

type NetworkAccount = Pick<BreakerKey, 'network' | 'testMode' | 'railAccount'>;

function isOfNetwork(breaker: BreakerKey, { network, testMode, railAccount }: NetworkAccount): boolean {
  return breaker.network === network && breaker.testMode === testMode && breaker.railAccount === railAccount;
}

function isOfMerchant({ scope }: BreakerKey): boolean {
  return scope !== '' && !scope.includes(':');
}

/** When to check again: soon while a trial is in flight, since it may end at any moment; else at `retryAt`. */
function nextTryAt({ state, retryAt }: OpenBreaker, now: Date): Date {
  const soon = addMs(now, retryAfterMs);
  return state === 'half_open' && soon < retryAt ? soon : retryAt;
}

/** Applies a change to the breaker as it is now, and retries if another writer was faster. */
async function updateWith(
  { db, clock, log, breakers }: BreakerContext,
  { key, payout }: { key: BreakerKey; payout: PayoutBreakers },
  change: (breaker: CircuitBreaker, now: Date) => CircuitBreaker,
): Promise<void> {
  for (let round = 0; round < roundsMax; round += 1) {
    const now = clock.now();
    const before = (await findBreaker(db, key)) ?? closedBreaker(key);
    const after = change(before, now);
    if (after === before) return;
    const save = after.version === 0n ? insertBreakerOnce : updateBreaker;
    const savedCount = await save(db, after, now);
    breakers.forget();
    if (savedCount === 0) continue;
    logTransition(log, payout, before, after);
    return;
  }
}

/** The process that changed the breaker logs the change, once. */
function logTransition(log: Log, payout: PayoutBreakers, before: CircuitBreaker, after: CircuitBreaker): void {
  const fields = { network: after.railAccount, merchant_id: after.scope === '' ? null : payout.merchantId };
  if (isOpen(after) && !isOpen(before)) log.warn('payouts are paused', { ...fields, reason: after.reason });
  if (isOpen(before) && !isOpen(after)) log.info('payouts resumed', { ...fields, reason: before.reason });
}
