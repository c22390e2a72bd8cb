import type { Shot, ShotName } from './check-shots.ts';
import type { ShotAnswer } from './post-shot.ts';

/** A shot and what came back; no answer when there was no time left to send it. */
export interface FiredShot {
  shot: Shot;
  answer: ShotAnswer | null;
}

/** `not_used`: it tells about a signature that the receiver does not look at. */
export type Verdict = 'passed' | 'failed' | 'not_used';

export interface CheckRow {
  check: ShotName;
  title: string;
  wanted: 'accepted' | 'refused';
  verdict: Verdict;
  status: number | null;
  /** What became of the connection when there is no status. */
  failure: string | null;
  duration_ms: number | null;
  advice: string | null;
}

export interface CheckReport {
  passed: boolean;
  score: { passed: number; of: number };
  checks: CheckRow[];
  /** What is no failure, and better done otherwise. */
  advice: string[];
}

// The service gives up after 15 s; who needs a third of that does the work before answering.
const slowMs = 5_000;

/** Judges what a receiver did. A receiver may look at either signature, and is held to the one it looks at. */
export function scoreShots(fired: readonly FiredShot[], serviceHeader: string): CheckReport {
  const used = {
    both: true,
    service: wasAccepted(fired, 'service_alone'),
    standard: wasAccepted(fired, 'standard_alone'),
  };
  const usesNone = !used.service && !used.standard;
  const checks = fired.map(({ shot, answer }): CheckRow => {
    const isRight = answer !== null && isAsWanted(shot, answer);
    // Who looks at neither alone has failed at both; what only one of them shows cannot be known then.
    const isHeldTo = used[shot.about] || (usesNone && shot.name.endsWith('_alone'));
    return {
      check: shot.name,
      title: shot.title,
      wanted: shot.wanted,
      verdict: verdictOf({ isHeldTo, isRight }),
      status: answer?.status ?? null,
      failure: answer ? answer.failure : 'not_sent',
      duration_ms: answer?.durationMs ?? null,
      advice: isHeldTo && !isRight ? shot.advice : null,
    };
  });
  const held = checks.filter(({ verdict }) => verdict !== 'not_used');
  const passed = held.filter(({ verdict }) => verdict === 'passed').length;
  return {
    passed: passed === held.length,
    score: { passed, of: held.length },
    checks,
    advice: adviceOn(fired, used, serviceHeader),
  };
}

function verdictOf({ isHeldTo, isRight }: { isHeldTo: boolean; isRight: boolean }): Verdict {
  if (!isHeldTo) return 'not_used';
  return isRight ? 'passed' : 'failed';
}

/** A connection that breaks is neither: a receiver says no with a status. */
function isAsWanted({ wanted }: Shot, { status }: ShotAnswer): boolean {
  if (status === null) return false;
  return isSuccess(status) === (wanted === 'accepted');
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function wasAccepted(fired: readonly FiredShot[], name: ShotName): boolean {
  const answer = fired.find(({ shot }) => shot.name === name)?.answer;
  return answer?.status !== undefined && answer.status !== null && isSuccess(answer.status);
}

function adviceOn(
  fired: readonly FiredShot[],
  used: { service: boolean; standard: boolean },
  serviceHeader: string,
): string[] {
  const answers = fired.flatMap(({ shot, answer }) => (answer ? [{ ...answer, wanted: shot.wanted }] : []));
  const slowest = Math.max(0, ...answers.map(({ durationMs }) => durationMs));
  const refusals = answers.filter(
    ({ wanted, status }) => wanted === 'refused' && status !== null && !isSuccess(status),
  );
  const strange = new Set(
    refusals.map(({ status }) => status).filter((status) => status && (status < 400 || status >= 500)),
  );
  return [
    ...(used.service && !used.standard ? [noTimeAdvice(serviceHeader)] : []),
    ...(slowest > slowMs
      ? [
          `The slowest answer took ${Math.round(slowest / 1_000)} s. Store the event, answer, and do the work afterwards.`,
        ]
      : []),
    ...(strange.size > 0
      ? [`Refusals were answered with ${[...strange].join(', ')}. Answer 401, so that they do not look like an outage.`]
      : []),
  ];
}

function noTimeAdvice(serviceHeader: string): string {
  return (
    `Your receiver looks at ${serviceHeader}, which has no time in it: whoever has seen an event can send it again. ` +
    'Remember the ids of events, or look at webhook-signature and refuse what is old.'
  );
}
