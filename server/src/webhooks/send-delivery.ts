import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { OutboundPolicy } from '../kit/outbound-guard.ts';
import type { OutboundClient, OutboundResult } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';
import type { Sealer } from '../kit/seal.ts';
import type { DeliveryTarget, DueDelivery } from './delivery.ts';
import { validSecrets } from './endpoint-secret.ts';
import type { FailureLog } from './failure-log.ts';
import { eventBody } from './envelope.ts';
import { judgeAttempt } from './judge-attempt.ts';
import type { Verdict } from './judge-attempt.ts';
import {
  disableGoneEndpoint,
  insertAttempt,
  keepPendingDeliveries,
  markAttemptFailed,
  markDelivered,
  putBackDelivery,
} from './queries.ts';
import { signatureHeaders } from './signature.ts';

export interface SendContext {
  db: Database;
  clock: Clock;
  random: Random;
  sealer: Sealer;
  log: Log;
  outbound: OutboundClient;
  urlPolicy: (testMode: boolean) => OutboundPolicy;
  /** The name of the service's own signature header, a server setting: `x-service-signature`. */
  signatureHeader: string;
  failures: FailureLog;
  /** Counts attempts by how they ended. */
  observeAttempt: (outcome: Verdict['status']) => void;
}

/** A claimed delivery and where it goes. */
export interface Claimed {
  target: DeliveryTarget;
  delivery: DueDelivery;
  url: string;
}

interface Attempt {
  sentAt: Date;
  endedAt: Date;
  result: OutboundResult;
}

// What we could not even sign (a seal key that is missing) waits for the operator and costs no attempt.
const putBackMs = 60_000;

/**
 * Makes one attempt and records it. Never rejects: what cannot be recorded stays claimed until its lease ends, and is
 * then sent again, because a receiver may get an event twice but must get it once.
 */
export async function sendDelivery(context: SendContext, claimed: Claimed): Promise<void> {
  const { target, delivery } = claimed;
  const fields = { merchant_id: target.merchantId, endpoint_id: target.id, delivery_id: delivery.id };
  const request = await prepare(context, claimed).catch((error: unknown) => {
    context.log.error('a webhook could not be signed', error, fields);
  });
  try {
    if (request) await record(context, claimed, await request());
    else await context.db.run(putBackDelivery(claimKey(claimed), addMs(context.clock.now(), putBackMs)));
  } catch (error) {
    context.log.error('the outcome of a webhook could not be recorded', error, fields);
  }
}

/** Everything that can fail on our side, before anything goes out. */
async function prepare(context: SendContext, { target, delivery, url }: Claimed): Promise<() => Promise<Attempt>> {
  const sentAt = context.clock.now();
  const secrets = validSecrets(context.sealer, target, sentAt);
  const body = eventBody({ ...delivery, id: delivery.eventId, testMode: target.testMode });
  const signatures = signatureHeaders({ id: delivery.eventId, sentAt, body }, secrets, context.signatureHeader);
  const headers = { 'content-type': 'application/json', ...signatures };
  const { httpsOnly } = context.urlPolicy(target.testMode);
  return async () => {
    const result = await context.outbound.post({ url, headers, body, httpsOnly });
    return { sentAt, endedAt: context.clock.now(), result };
  };
}

async function record(context: SendContext, claimed: Claimed, attempt: Attempt): Promise<void> {
  const { random } = context;
  const { result, endedAt } = attempt;
  const verdict = judgeAttempt(random, { number: Number(claimed.delivery.attempt), endedAt, result });
  await context.db.withTransaction(async (tx) => {
    const isGone = verdict.status === 'failed' && verdict.gone;
    // The endpoint first, like whoever switches one off by hand: two that lock in one order cannot lock each other out.
    const switchedOff = isGone && (await switchOff(context, tx, claimed, endedAt));
    tx.send(attemptRow(claimed, attempt));
    await tx.run(outcomeStatement(claimed, verdict, endedAt));
    if (switchedOff) await keepPendingDeliveries(tx, claimed.target);
  });
  context.observeAttempt(verdict.status);
  if (verdict.status !== 'delivered') tellFailure(context, claimed, attempt, verdict);
}

function tellFailure(context: SendContext, { target, delivery }: Claimed, { result }: Attempt, verdict: Verdict): void {
  context.failures.tell(target.id, {
    merchant_id: target.merchantId,
    delivery_id: delivery.id,
    attempts: delivery.attempt,
    ...(result.kind === 'answered' ? { status: result.status } : { reason: result.failure }),
    detail: verdict.status === 'pending' ? 'It is tried again.' : 'It was the last attempt.',
  });
}

/** A callback address that is gone is not the endpoint's URL, and switches nothing off. */
async function switchOff(context: SendContext, tx: Transaction, claimed: Claimed, at: Date): Promise<boolean> {
  const { merchantId, id } = claimed.target;
  const touched = await tx.run(disableGoneEndpoint({ merchantId, id, url: claimed.url, at }));
  const fields = { merchant_id: merchantId, endpoint_id: id };
  if (touched > 0) tx.afterCommit(() => context.log.warn('a webhook endpoint answered 410 and is off now', fields));
  return touched > 0;
}

function outcomeStatement(claimed: Claimed, verdict: Verdict, endedAt: Date) {
  const key = claimKey(claimed);
  if (verdict.status === 'delivered') return markDelivered(key, endedAt);
  const nextAttemptAt = verdict.status === 'pending' ? verdict.nextAttemptAt : null;
  return markAttemptFailed(key, { status: verdict.status, nextAttemptAt });
}

function attemptRow(claimed: Claimed, { sentAt, result }: Attempt) {
  const { merchantId, id: deliveryId, attempt } = claimKey(claimed);
  const answered = result.kind === 'answered';
  return insertAttempt({
    merchantId,
    deliveryId,
    attempt,
    statusCode: answered ? result.status : null,
    failure: answered ? null : result.failure,
    // Coarse, so that nobody can measure from a merchant's dashboard what is near this server and what is not.
    durationMs: Math.round(result.durationMs / 10) * 10,
    answer: answered ? result.excerpt : '',
    createdAt: sentAt,
  });
}

function claimKey({ target, delivery }: Claimed) {
  return { merchantId: target.merchantId, id: delivery.id, attempt: delivery.attempt };
}
