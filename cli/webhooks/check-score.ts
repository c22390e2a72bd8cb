import type { CheckRequest, CheckName } from './check-requests.ts';
import type { ReceiverResponse } from './send-request.ts';

/** A request and its response; null if there was no time left to send it. */
export interface CheckResult {
  request: CheckRequest;
  response: ReceiverResponse | null;
}

/** `not_used`: the check is about a signature that the receiver does not verify. */
export type Verdict = 'passed' | 'failed' | 'not_used';

export interface CheckRow {
  check: CheckName;
  title: string;
  wanted: 'accepted' | 'refused';
  verdict: Verdict;
  status: number | null;
  /** Why there is no status. */
  failure: string | null;
  duration_ms: number | null;
  advice: string | null;
}

export interface CheckReport {
  passed: boolean;
  score: { passed: number; of: number };
  checks: CheckRow[];
  /** Improvements that are no failures. */
  advice: string[];
}

// The service times out after 15 s; a receiver that takes a third of that works before it responds.
const slowMs = 5_000;

/** Scores the responses. A receiver may verify either signature, and only the checks of that one count. */
export function scoreResults(results: readonly CheckResult[], serviceHeader: string): CheckReport {
  const used = {
    both: true,
    service: wasAccepted(results, 'service_alone'),
    standard: wasAccepted(results, 'standard_alone'),
  };
  const usesNone = !used.service && !used.standard;
  const checks = results.map(({ request, response }): CheckRow => {
    const isCorrect = response !== null && isExpected(request, response);
    // A receiver that accepts neither alone fails both; the checks of a single signature do not apply then.
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

// Any other status, such as 404 or 500, is a fault of the receiver and not a refused signature.
const refusalStatuses: ReadonlySet<number> = new Set([400, 401, 403]);

/** A broken connection is neither accepted nor refused. */
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
          `The slowest response took ${Math.round(slowest / 1_000)} s. Store the event, respond, and process it afterwards.`,
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
    `Your receiver verifies ${serviceHeader}, which has no time in it: an intercepted event can be replayed. ` +
    'Store the ids of events, or verify webhook-signature and refuse old timestamps.'
  );
}
