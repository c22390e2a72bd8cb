import { assert } from '../kit/assert.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { BreakerCopy } from './breaker-copy.ts';
import { afterArrival, afterSend, closedBreaker, halfOpened, isClear, isOpen } from './circuit-breaker.ts';
import type { BreakerKey, CircuitBreaker, OpenBreaker, SendOutcome } from './circuit-breaker.ts';
import type { Capabilities, Connector, UnavailableReason } from './contract.ts';
import { callbackName } from './registry.ts';
import type { NetworkRegistry } from './registry.ts';
import { deleteUnusedBreakers, findBreaker, insertBreakerOnce, updateBreaker } from './queries.ts';

/** What the circuit breakers of payouts work with. One copy a process, handed to everybody in it. */
export interface BreakerContext {
  db: Queryable;
  clock: Clock;
  log: Log;
  breakers: BreakerCopy;
}

/** Whose payout it is, and the breakers that it depends on, the narrowest first. Made by `payoutBreakers`. */
export interface PayoutBreakers {
  merchantId: string;
  keys: readonly BreakerKey[];
  /** How long a probe may take before it counts as lost. */
  trialLeaseMs: number;
}

export type PayoutPermit = { allowed: true } | { allowed: false; retryAt: Date; reason: UnavailableReason };

// What a probe needs beyond its call: the statements around it, on a machine that is busy.
const trialSlackMs = 2_000;
// Whoever finds a probe under way asks again after this time: so soon do all go out once it has succeeded.
const retryAfterMs = 1_000;
// How long whoever has an open breaker of their own leaves the probe of a whole network to others, whose payouts fail only
// if the network does.
const yieldTrialMs = 2_000;
// Each round lost was won by another writer, after which there is mostly nothing left to change.
const roundsMax = 10;
// Nobody has had anything to send there for so long; the next send finds out by itself.
const unusedForMs = 60 * 60 * 1_000;

/** The breakers of a payout of this merchant to this number; the connector must be one that pays out. */
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
 * Whether a payout may be sent now. Ask right before the send, outside any transaction, and report how it ended with
 * `reportPayout`: while a breaker is open, one send is let through as a probe at a time, and everybody else waits for
 * its report (or for its lease to end). A send that is not allowed comes again at `retryAt`. While the network's breaker
 * is open, it decides alone.
 *
 * Costs no statement while nothing is known against the breakers.
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
    // The copy may be a second behind the closing, and whoever waited for that asks right then.
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
 * Reports how a send ended, outside any transaction; what follows for the breakers is written for all processes.
 *
 * A documented reason opens the breaker of all payouts there at once. Five sends in a row that are `unclear` open the
 * merchant's, and everybody's when they are of three merchants; `answered` closes both.
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
 * Reports that a look-up or a callback shows a send to have arrived, whose own answer may have been lost. Closes the
 * breakers that have been open since before it was sent. Costs no statement while none is.
 */
export async function reportArrival(context: BreakerContext, payout: PayoutBreakers, sentAt: Date): Promise<void> {
  const open = (await findInCopy(context, payout)).filter(isOpen);
  for (const key of open) await updateWith(context, { key, payout }, (breaker) => afterArrival(breaker, sentAt));
}

/** Which breakers are open, for the operator's eyes: it names networks, never a merchant or a number. */
export interface BreakerSummary {
  networks: {
    /** The name in its callbacks' address. */
    name: string;
    capabilities: Capabilities;
    /** The breaker of all payouts there, when it is not closed. */
    open: OpenBreaker | null;
    /** How many merchants' own breakers are open there. */
    merchantCount: number;
  }[];
  /** Breakers of one merchant's payouts to one number. */
  numberCount: number;
}

/** Every network that pays out. Costs at most one statement a second. */
export async function summarizeBreakers({
  db,
  clock,
  breakers,
  networks,
}: Pick<BreakerContext, 'db' | 'clock' | 'breakers'> & { networks: NetworkRegistry }): Promise<BreakerSummary> {
  const open = (await breakers.read(db, clock)).filter(isOpen);
  const paying = [...networks.list(false), ...networks.list(true)].filter((connector) => connector.payouts !== null);
  return {
    networks: paying.map((connector) => {
      const { capabilities } = connector;
      const there = open.filter((breaker) => isOfNetwork(breaker, capabilities));
      return {
        name: callbackName(connector),
        capabilities,
        open: there.find(({ scope }) => scope === '') ?? null,
        merchantCount: there.filter((breaker) => isOfMerchant(breaker)).length,
      };
    }),
    numberCount: open.filter(({ scope }) => scope.includes(':')).length,
  };
}

/** Removes what nobody has sent anything to for an hour. Answers how many. */
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

/** A probe that is under way may end at any moment; one that is not begins at `retryAt`. */
function nextTryAt({ state, retryAt }: OpenBreaker, now: Date): Date {
  const soon = addMs(now, retryAfterMs);
  return state === 'half_open' && soon < retryAt ? soon : retryAt;
}

/** Writes what the outcome makes of the breaker as it is by then. */
async function updateWith(
  context: BreakerContext,
  { key, payout }: { key: BreakerKey; payout: PayoutBreakers },
  outcomeOn: (breaker: CircuitBreaker, now: Date) => CircuitBreaker,
): Promise<void> {
  const { db, clock, breakers } = context;
  for (let round = 0; round < roundsMax; round += 1) {
    const now = clock.now();
    const before = (await findBreaker(db, key)) ?? closedBreaker(key);
    const after = outcomeOn(before, now);
    if (after === before) return;
    const save = after.version === 0n ? insertBreakerOnce : updateBreaker;
    const touched = await save(db, after, now);
    breakers.forget();
    if (touched === 0) continue;
    logTransition(context, payout, before, after);
    return;
  }
}

/** Whoever made the change says so, once. */
function logTransition(
  { log }: BreakerContext,
  payout: PayoutBreakers,
  before: CircuitBreaker,
  after: CircuitBreaker,
): void {
  const network = after.testMode ? `${after.network}-test` : after.network;
  const fields = { network, merchant_id: after.scope === '' ? null : payout.merchantId };
  if (isOpen(after) && !isOpen(before)) log.warn('payouts are paused', { ...fields, reason: after.reason });
  if (isOpen(before) && !isOpen(after)) log.info('payouts go out again', { ...fields, reason: before.reason });
}
