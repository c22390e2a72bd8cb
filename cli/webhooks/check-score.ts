import type { CheckRequest, CheckName } from './check-requests.ts';
import type { ReceiverResponse } from './send-request.ts';

/** A shot and what came back; no answer when there was no time left to send it. */
export interface CheckResult {
  request: CheckRequest;
  response: ReceiverResponse | null;
}

/** `not_used`: it tells about a signature that the receiver does not look at. */
export type Verdict = 'passed' | 'failed' | 'not_used';

export interface CheckRow {
  check: CheckName;
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
export function scoreResults(results: readonly CheckResult[], serviceHeader: string): CheckReport {
  const used = {
    both: true,
    service: wasAccepted(results, 'service_alone'),
    standard: wasAccepted(results, 'standard_alone'),
  };
  const usesNone = !used.service && !used.standard;
  const checks = results.map(({ request, response }): CheckRow => {
    const isCorrect = response !== null && isExpected(request, response);
    // Who looks at neither alone has failed at both; what only one of them shows cannot be known then.
    const isApplicable = used[request.about] || (usesNone && request.name.endsWith('_alone'));
    return {
      check: request.name,
      title: request.title,
      wanted: request.expected,
      verdict: verdictOf({ isApplicable, isCorrect }),
      status: response?.status ?? null,
      failure: response ? response.failure : 'not_sent',
      duration_ms: response?.durationMs ?? null,
      advice: isApplicable && !isCorrect ? request.advice : null,
    };
  });
  const applicable = checks.filter(({ verdict }) => verdict !== 'not_used');
  const passed = applicable.filter(({ verdict }) => verdict === 'passed').length;
  return {
    passed: passed === applicable.length,
    score: { passed, of: applicable.length },
    checks,
    advice: adviceOn(results, used, serviceHeader),
  };
}

function verdictOf({ isApplicable, isCorrect }: { isApplicable: boolean; isCorrect: boolean }): Verdict {
  if (!isApplicable) return 'not_used';
  return isCorrect ? 'passed' : 'failed';
}

// Anything else, such as 404 or 500, says that something is missing or broken, not that the signature is wrong.
const refusalStatuses: ReadonlySet<number> = new Set([400, 401, 403]);

/** A connection that breaks is neither: a receiver says no with a status. */
function isExpected({ expected }: CheckRequest, { status }: ReceiverResponse): boolean {
  if (status === null) return false;
  return expected === 'accepted' ? isSuccess(status) : refusalStatuses.has(status);
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function wasAccepted(results: readonly CheckResult[], name: CheckName): boolean {
  const response = results.find(({ request }) => request.name === name)?.response;
  return response?.status !== undefined && response.status !== null && isSuccess(response.status);
}

function adviceOn(
  results: readonly CheckResult[],
  used: { service: boolean; standard: boolean },
  serviceHeader: string,
): string[] {
  const responses = results.flatMap(({ request, response }) =>
    response ? [{ ...response, expected: request.expected }] : [],
  );
  const slowest = Math.max(0, ...responses.map(({ durationMs }) => durationMs));
  const refusals = responses.filter(
    ({ expected, status }) => expected === 'refused' && status !== null && !isSuccess(status),
  );
  const unexpectedStatuses = new Set(
    refusals.map(({ status }) => status).filter((status) => status !== null && !refusalStatuses.has(status)),
  );
  return [
    ...(used.service && !used.standard ? [noTimeAdvice(serviceHeader)] : []),
    ...(slowest > slowMs
      ? [
          `The slowest answer took ${Math.round(slowest / 1_000)} s. Store the event, answer, and do the work afterwards.`,
        ]
      : []),
    ...(unexpectedStatuses.size > 0
      ? [
          `Refusals were answered with ${[...unexpectedStatuses].join(', ')}. Answer 401, so that they do not look like an outage.`,
        ]
      : []),
  ];
}

function noTimeAdvice(serviceHeader: string): string {
  return (
    `Your receiver looks at ${serviceHeader}, which has no time in it: whoever has seen an event can send it again. ` +
    'Remember the ids of events, or look at webhook-signature and refuse what is old.'
  );
}
