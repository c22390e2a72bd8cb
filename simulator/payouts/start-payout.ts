import { createHash } from 'node:crypto';
import { randomBase62 } from '../../server/src/kit/base62.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import type { Transaction } from '../../server/src/kit/db.ts';
import type { Random } from '../../server/src/kit/random.ts';
import type { Alongside, SimulatorContext } from '../context.ts';
import { randomIdLength } from '../record-id.ts';
import { enqueuePayoutNotifications } from '../enqueue-notifications.ts';
import { payoutAt, type Payout } from './payout.ts';
import type { PayoutRequest } from './payout-request.ts';
import { outageMs, payoutScenarioOf, planPayout, upAfterOutageMs, type PayoutPlan } from './payout-scenarios.ts';
import {
  findFloat,
  findPayoutByReference,
  findPayoutOutage,
  insertEmptyFloat,
  insertPayout,
  upsertPayoutOutage,
  type PayoutOutage,
} from './queries.ts';

export type PayoutStart =
  | { kind: 'payout'; payout: Payout }
  /** Accepted, but the caller gets no response. */
  | { kind: 'silent' }
  /** The reference belongs to another request. */
  | { kind: 'conflict' }
  /** The network is down; nothing was created. */
  | { kind: 'not_accepted' }
  /** The float is empty; nothing was created. */
  | { kind: 'float_empty' };

/**
 * Pays out, or returns the payout that the same request started before. The row holds the whole scenario, so every later
 * state follows from it in any process.
 */
export function startPayout(
  context: SimulatorContext,
  request: PayoutRequest,
  alongside?: Alongside<Payout>,
): Promise<PayoutStart> {
  const { account, network, reference } = request;
  const start = (tx: Transaction) => startPayoutWithin(tx, context, request, alongside);
  return context.sharedCommits.run(`${account} ${network.id}`, start, { row: reference });
}

/** The same in the caller's transaction, also for refunds. */
export async function startPayoutWithin(
  tx: Transaction,
  context: SimulatorContext,
  request: PayoutRequest,
  alongside: Alongside<Payout> = () => {},
): Promise<PayoutStart> {
  const { account, reference, beneficiaryNumber } = request;
  const network = request.network.id;
  const key = { account, network, reference };
  const line = { account, network, beneficiaryNumber };
  const now = context.clock.now();
  const [existing, outage, float] = await Promise.all([
    findPayoutByReference(tx, key),
    findPayoutOutage(tx, line),
    findFloat(tx, line),
  ]);
  if (existing) return repeatedStart(existing, request, now);
  if (isDown(outage, now)) return { kind: 'not_accepted' };
  const scenario = payoutScenarioOf(beneficiaryNumber);
  if (scenario === 'network_down' && !recoveredRecently(outage, now)) {
    tx.send(upsertPayoutOutage(line, { beganAt: now, endsAt: addMs(now, outageMs) }));
    return { kind: 'not_accepted' };
  }
  const floatState = float?.state ?? (scenario === 'float_empty' ? 'empty' : 'filled');
  if (floatState === 'empty') {
    tx.send(insertEmptyFloat(line, now));
    return { kind: 'float_empty' };
  }
  const plan = planPayout(scenario, now);
  const payout = newPayout(context.random, request, { plan, now });
  if ((await tx.run(insertPayout(payout))) === 0) {
    const first = await findPayoutByReference(tx, key);
    return first ? repeatedStart(first, request, now) : { kind: 'conflict' };
  }
  alongside(tx, payout);
  enqueuePayoutNotifications(tx, context, payout, plan.notifications);
  return startResult(payout, now);
}

function isDown(outage: PayoutOutage | undefined, now: Date): boolean {
  return outage !== undefined && (outage.endsAt === null || outage.endsAt > now);
}

function recoveredRecently(outage: PayoutOutage | undefined, now: Date): boolean {
  return outage !== undefined && outage.endsAt !== null && addMs(outage.endsAt, upAfterOutageMs) > now;
}

export function newPayout(
  random: Random,
  request: PayoutRequest,
  start: { plan: Pick<PayoutPlan, 'fields'>; now: Date },
): Payout {
  const { network, account, clientReference = null, ...details } = request;
  return {
    ...details,
    ...start.plan.fields,
    clientReference,
    account,
    network: network.id,
    id: account + randomBase62(random, randomIdLength),
    fingerprint: fingerprint(request),
    transactionId: `T${randomBase62(random, randomIdLength)}`,
    createdAt: start.now,
  };
}

function repeatedStart(payout: Payout, request: PayoutRequest, now: Date): PayoutStart {
  return payout.fingerprint === fingerprint(request) ? startResult(payout, now) : { kind: 'conflict' };
}

function startResult(payout: Payout, now: Date): PayoutStart {
  return payout.visibleAt > now ? { kind: 'silent' } : { kind: 'payout', payout: payoutAt(payout, now) };
}

/** Equal for equivalent requests: `450` and `450.00`, an old and a new form of one number. */
export function fingerprint(request: PayoutRequest): string {
  const { amountMinor, currency, beneficiaryNumber, beneficiaryName, description, callbackUrl } = request;
  const { refundedTransactionId } = request;
  const significantFields = [
    amountMinor.toString(),
    currency,
    beneficiaryNumber,
    beneficiaryName,
    description,
    callbackUrl,
    ...(refundedTransactionId === null ? [] : [refundedTransactionId]),
  ];
  return createHash('sha256').update(JSON.stringify(significantFields)).digest('hex');
}
