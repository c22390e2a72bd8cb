import { AppError } from '../kit/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { KeyedBatcher } from '../kit/keyed-batcher.ts';
import type { Random } from '../kit/random.ts';
import { HealthNotes } from './endpoint-health.ts';
import { FailureLog } from './failure-log.ts';
import { insertAttempts, markAttemptsFailed, markDelivered } from './queries/deliveries.ts';
import type { AttemptRow } from './queries/deliveries.ts';
import { noteHealth } from './queries/endpoint-health.ts';
import type { Failing, HealthNote } from './queries/endpoint-health.ts';
import { judgeAttempt } from './retry-schedule.ts';
import type { Verdict } from './retry-schedule.ts';
import type { Attempt, Claimed, Outcome } from './send-delivery.ts';
import { finishSwitchOff, isJudgementDue, judgeFailing, switchOff } from './switch-off.ts';
import type { SwitchOffContext } from './switch-off.ts';

export interface RecordContext extends SwitchOffContext {
  random: Random;
  /** Counts attempts by how they ended. */
  observeAttempt: (outcome: Verdict['status']) => void;
}

interface Judged extends Outcome {
  verdict: Verdict;
}

interface Writing extends RecordContext {
  failures: FailureLog;
  health: HealthNotes;
}

// Each is a transaction and a connection for some milliseconds; requests of merchants share the connections.
const writingMax = 4;
// Some milliseconds of statements.
const batchMax = 128;

/** Answers the function that writes an outcome down; it resolves when that is done, or could not be. */
export function createAttemptRecorder(context: RecordContext): (outcome: Outcome) => Promise<void> {
  const writing = { ...context, failures: new FailureLog(context), health: new HealthNotes(context) };
  const batcher = new KeyedBatcher<Outcome>((merchantId, outcomes) => recordOutcomes(writing, merchantId, outcomes), {
    keysMax: writingMax,
    batchMax,
  });
  return (outcome) => batcher.add(outcome.merchantId, outcome);
}

/**
 * Writes down how attempts of one merchant ended. Never rejects: what cannot be written stays claimed until its lease
 * ends, and is then sent again, because a receiver may get an event twice but must get it once.
 */
async function recordOutcomes(context: Writing, merchantId: string, outcomes: readonly Outcome[]): Promise<void> {
  const judged = outcomes.map((outcome) => ({ ...outcome, verdict: verdictOf(context, outcome) }));
  const gone = judged.filter(isGone);
  const others = judged.filter((one) => !isGone(one));
  if (others.length > 0) await recordBatch(context, merchantId, others);
  // Each by itself: what switches an endpoint off locks it first.
  for (const one of gone) await recordBatch(context, merchantId, [one]);
}

async function recordBatch(context: Writing, merchantId: string, batch: readonly Judged[]): Promise<void> {
  try {
    const failing = await writeBatch(context, merchantId, batch);
    await judgeAll(context, failing, batch);
  } catch (error) {
    const isPoisoned = batch.length > 1 && !(error instanceof AppError);
    const message = 'the outcomes of webhooks could not be recorded';
    context.log.error(message, error, { merchant_id: merchantId, count: batch.length });
    // One that cannot be written must not take the others with it.
    if (isPoisoned) for (const one of batch) await recordBatch(context, merchantId, [one]);
  }
}

/** Answers what is known now of the endpoints that failed. */
async function writeBatch(
  context: Writing,
  merchantId: string,
  batch: readonly Judged[],
): Promise<[string, Failing][]> {
  const notes = context.health.worthWriting(batch);
  const [first] = batch;
  const gone = first && isGone(first) ? ({ called: calledBy(first), reason: 'gone' } as const) : null;
  const failing = await context.db.withTransaction(async (tx) => {
    // The endpoint first, like whoever switches one off by hand: two that lock in one order cannot lock each other out.
    const isOff = gone !== null && (await switchOff(tx, context, gone));
    for (const statement of insertAttempts(batch.map(attemptRow))) tx.send(statement);
    sendOutcomes(tx, merchantId, batch);
    if (isOff) await finishSwitchOff(tx, context, gone);
    return sendNotes(tx, merchantId, notes);
  });
  context.health.noteWritten(notes);
  for (const { attempt, claimed, verdict } of batch) {
    context.observeAttempt(verdict.status);
    if (verdict.status !== 'delivered') reportFailure(context, claimed, attempt, verdict);
  }
  return failing;
}

/** What fails here is done after the next attempt that fails. */
async function judgeAll(
  context: RecordContext,
  failing: readonly [string, Failing][],
  batch: readonly Judged[],
): Promise<void> {
  const now = context.clock.now();
  for (const [endpointId, health] of failing) {
    const last = batch.findLast((one) => one.claimed.target.id === endpointId && isOwn(one));
    if (!last || !isJudgementDue(health, now)) continue;
    await judgeFailing(context, calledBy(last)).catch((error: unknown) => {
      context.log.error('an endpoint that fails could not be judged', error, { endpoint_id: endpointId });
    });
  }
}

function sendOutcomes(tx: Transaction, merchantId: string, batch: readonly Judged[]): void {
  const delivered: Parameters<typeof markDelivered>[1][number][] = [];
  const failed: Parameters<typeof markAttemptsFailed>[1][number][] = [];
  for (const { claimed, attempt, verdict } of batch) {
    const { id, attempt: number } = claimed.delivery;
    const key = { id, attempt: number };
    if (verdict.status === 'delivered') delivered.push({ ...key, deliveredAt: attempt.endedAt });
    else {
      const nextAttemptAt = verdict.status === 'pending' ? verdict.nextAttemptAt : null;
      failed.push({ ...key, status: verdict.status, nextAttemptAt });
    }
  }
  if (delivered.length > 0) tx.send(markDelivered(merchantId, delivered));
  if (failed.length > 0) tx.send(markAttemptsFailed(merchantId, failed));
}

/** Answers what is known now of the endpoints that fail. */
async function sendNotes(
  tx: Transaction,
  merchantId: string,
  notes: readonly HealthNote[],
): Promise<[string, Failing][]> {
  const failing: [string, Failing][] = [];
  for (const note of notes) {
    const statement = noteHealth(merchantId, note);
    if (note.failingSince === null) tx.send(statement);
    else {
      const health = await tx.row<Failing>(statement);
      if (health) failing.push([note.endpointId, health]);
    }
  }
  return failing;
}

function verdictOf({ random }: RecordContext, { claimed, attempt }: Outcome): Verdict {
  const { endedAt, result } = attempt;
  return judgeAttempt(random, { tryNumber: Number(claimed.delivery.tryNumber), endedAt, result });
}

function isGone({ verdict }: Judged): boolean {
  return verdict.status === 'failed' && verdict.gone;
}

function isOwn({ claimed }: Outcome): boolean {
  return claimed.delivery.callbackUrl === null;
}

function calledBy({ claimed: { target, url } }: Outcome) {
  const { merchantId, id, testMode } = target;
  return { merchantId, id, testMode, url };
}

function attemptRow({ merchantId, claimed, attempt }: Outcome): AttemptRow {
  const { sentAt, result } = attempt;
  const answered = result.kind === 'answered';
  return {
    merchantId,
    deliveryId: claimed.delivery.id,
    attempt: claimed.delivery.attempt,
    statusCode: answered ? result.status : null,
    failure: answered ? null : result.failure,
    // Coarse, so that nobody can measure from a merchant's dashboard what is near this server and what is not.
    durationMs: Math.round(result.durationMs / 10) * 10,
    answer: answered ? result.excerpt : '',
    createdAt: sentAt,
  };
}

function reportFailure(context: Writing, { target, delivery }: Claimed, { result }: Attempt, verdict: Verdict) {
  context.failures.report(target.id, {
    merchant_id: target.merchantId,
    delivery_id: delivery.id,
    attempts: delivery.attempt,
    ...(result.kind === 'answered' ? { status: result.status } : { reason: result.failure }),
    detail: verdict.status === 'pending' ? 'It is tried again.' : 'It was the last attempt.',
  });
}
