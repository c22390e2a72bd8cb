import { PublicError } from '../kit/public-error.ts';
import type { Transaction } from '../kit/db.ts';
import { KeyedBatcher } from '../kit/keyed-batcher.ts';
import type { WebhookContext } from './context.ts';
import { HealthNotes } from './endpoint-health.ts';
import { FailureCounts } from './failure-counts.ts';
import { insertAttempts, markAttemptsFailed, markDelivered, type AttemptRow } from './queries/deliveries.ts';
import { noteHealth, type Failing, type HealthNote } from './queries/endpoint-health.ts';
import { judgeAttempt, type Verdict } from './retry-schedule.ts';
import type { Outcome } from './send-delivery.ts';
import { finishSwitchOff, isJudgementDue, judgeFailing, switchOff } from './switch-off.ts';

interface JudgedOutcome extends Outcome {
  verdict: Verdict;
}

interface Recorder extends WebhookContext {
  failures: FailureCounts;
  health: HealthNotes;
}

// Each is a transaction and a connection for some milliseconds; merchants' requests share the connections.
const writingMax = 4;
// Some milliseconds of statements.
const batchMax = 128;

/** Returns the function that records an outcome; it resolves when the outcome is recorded, or could not be. */
export function createAttemptRecorder(context: WebhookContext): (outcome: Outcome) => Promise<void> {
  const { clock } = context;
  const recorder = { ...context, failures: new FailureCounts(clock), health: new HealthNotes(clock) };
  const batcher = new KeyedBatcher<Outcome>((merchantId, outcomes) => recordOutcomes(recorder, merchantId, outcomes), {
    keysMax: writingMax,
    batchMax,
  });
  return (outcome) => batcher.add(outcome.merchantId, outcome);
}

/**
 * Records outcomes of one merchant. Never rejects: a delivery whose outcome cannot be recorded stays claimed until its lease
 * ends and is then sent again, because a receiver may get an event twice but must get it once.
 */
async function recordOutcomes(recorder: Recorder, merchantId: string, outcomes: readonly Outcome[]): Promise<void> {
  const { random } = recorder;
  const judged = outcomes.map((outcome) => {
    const { endedAt, result } = outcome.attempt;
    const tryNumber = Number(outcome.claimed.delivery.tryNumber);
    return { ...outcome, verdict: judgeAttempt(random, { tryNumber, endedAt, result }) };
  });
  const gone = judged.filter(isGone);
  const others = judged.filter((outcome) => !isGone(outcome));
  if (others.length > 0) await recordBatch(recorder, merchantId, others);
  // One by one, because switching an endpoint off has to lock it first.
  for (const outcome of gone) await recordBatch(recorder, merchantId, [outcome]);
}

async function recordBatch(recorder: Recorder, merchantId: string, batch: readonly JudgedOutcome[]): Promise<void> {
  try {
    const failing = await writeBatch(recorder, merchantId, batch);
    await judgeEndpoints(recorder, failing, batch);
  } catch (error) {
    const isPoisoned = batch.length > 1 && !(error instanceof PublicError);
    const message = 'the outcomes of webhooks could not be recorded';
    recorder.log.error(message, error, { merchant_id: merchantId, count: batch.length });
    // An outcome that cannot be written must not take the others with it.
    if (isPoisoned) for (const outcome of batch) await recordBatch(recorder, merchantId, [outcome]);
  }
}

/** Returns the failing endpoints of the batch with what is known of them now. */
async function writeBatch(
  recorder: Recorder,
  merchantId: string,
  batch: readonly JudgedOutcome[],
): Promise<[string, Failing][]> {
  const { clock, health } = recorder;
  const notes = health.selectChanged(batch);
  const [first] = batch;
  const gone = first && isGone(first) ? ({ called: calledEndpoint(first), reason: 'gone' } as const) : null;
  if (gone !== null) await recorder.sealer.prepare();
  const failing = await recorder.db.withTransaction(async (tx) => {
    // The endpoint first, as when a merchant disables it: two transactions that lock in one order cannot deadlock.
    const isOff = gone !== null && (await switchOff(tx, gone, clock.now()));
    for (const statement of insertAttempts(batch.map(attemptRow))) tx.send(statement);
    sendOutcomes(tx, merchantId, batch);
    if (isOff) await finishSwitchOff(tx, recorder, gone);
    return sendNotes(tx, merchantId, notes);
  });
  health.noteWritten(notes);
  for (const outcome of batch) {
    recorder.observeAttempt(outcome.verdict.status);
    if (outcome.verdict.status !== 'delivered') logFailure(recorder, outcome);
  }
  return failing;
}

/** An error here is logged; the next failed attempt judges the endpoint again. */
async function judgeEndpoints(
  recorder: Recorder,
  failing: readonly [string, Failing][],
  batch: readonly JudgedOutcome[],
): Promise<void> {
  const now = recorder.clock.now();
  for (const [endpointId, health] of failing) {
    const last = batch.findLast(
      ({ claimed }) => claimed.target.id === endpointId && claimed.delivery.callbackUrl === null,
    );
    if (!last || !isJudgementDue(health, now)) continue;
    await judgeFailing(recorder, calledEndpoint(last)).catch((error: unknown) => {
      recorder.log.error('a failing endpoint could not be judged', error, { endpoint_id: endpointId });
    });
  }
}

function sendOutcomes(tx: Transaction, merchantId: string, batch: readonly JudgedOutcome[]): void {
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

/** Returns the endpoints that fail with what is known of them now. */
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

function isGone({ verdict }: JudgedOutcome): boolean {
  return verdict.status === 'failed' && verdict.gone;
}

function calledEndpoint({ claimed: { target, url } }: Outcome) {
  const { merchantId, id, testMode, updatedAt } = target;
  return { merchantId, id, testMode, updatedAt, url };
}

function attemptRow({ merchantId, claimed, attempt }: Outcome): AttemptRow {
  const { sentAt, result } = attempt;
  const responded = result.kind === 'answered';
  return {
    merchantId,
    deliveryId: claimed.delivery.id,
    attempt: claimed.delivery.attempt,
    statusCode: responded ? result.status : null,
    failure: responded ? null : result.failure,
    // Rounded, so that a merchant cannot measure what is near this server and what is not.
    durationMs: Math.round(result.durationMs / 10) * 10,
    response: responded ? result.excerpt : '',
    createdAt: sentAt,
  };
}

/** Logs neither the URL nor the body: both may hold secrets. */
function logFailure({ failures, log }: Recorder, { claimed, attempt: { result }, verdict }: JudgedOutcome): void {
  const { target, delivery } = claimed;
  const count = failures.add(target.id);
  if (count === null) return;
  log.warn('a webhook could not be delivered', {
    endpoint_id: target.id,
    count,
    merchant_id: target.merchantId,
    delivery_id: delivery.id,
    attempts: delivery.attempt,
    ...(result.kind === 'answered' ? { status: result.status } : { reason: result.failure }),
    detail: verdict.status === 'pending' ? 'It is tried again.' : 'It was the last attempt.',
  });
}
