import { table, UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { CommandFailure, describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import type { Output } from '../output.ts';
import { scoreResults, type CheckReport, type CheckRow, type CheckResult } from './check-score.ts';
import { checkRequests } from './check-requests.ts';
import { isWholeSecret } from './diagnose.ts';
import { readOwnReceiver } from './own-receiver.ts';
import type { CheckTarget } from './send-request.ts';
import { readSecret, secretFileDetails } from './secrets.ts';
import { readServiceHeader, serviceHeaderDetails } from './service-header.ts';

// A receiver that leaves every request unanswered would take five minutes.
const checkMaxMs = 120_000;

/** Sends genuine and forged events to the developer's own receiver, and scores its responses. */
export const checkCommand: Command = {
  name: 'webhooks check',
  usage: '<url> [--secret-file <file>] [--yes-it-is-mine]',
  summary: 'Test your receiver with genuine and forged events',
  details: `  Sends eighteen requests, one at a time, in at most two minutes. All events are
  marked as test events of this command.

${describeOptions([
  secretFileDetails,
  serviceHeaderDetails,
  ['--yes-it-is-mine', 'confirm that a receiver outside this machine and its network is yours'],
])}

  dalasi webhooks check http://localhost:4000/webhooks

  The exit code is 0 when every required check passes, otherwise 1.`,
  moreOptions: '[--service-header <name>]',
  run: check,
};

async function check(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { flags, positionals } = input;
  const serviceHeader = readServiceHeader(input);
  const secret = readSecret(context, input).trim();
  if (!isWholeSecret(secret))
    throw new UsageError('The secret is not a webhook secret: wh_ and at least 32 characters.');
  const receiver = await readOwnReceiver(positionals[0] ?? '', { isClaimed: flags.has('yes-it-is-mine') });
  const { clock, random, output } = context;
  const interruption = context.interruption();
  const deadline = new AbortController();
  const finished = new AbortController();
  void clock.sleep(checkMaxMs, finished.signal).then(() => deadline.abort());
  output.note(`Checking ${receiver.url.href}`);
  try {
    const signal = AbortSignal.any([interruption, deadline.signal]);
    const results = await sendAll({ clock, receiver, signal }, checkRequests({ clock, random, secret, serviceHeader }));
    if (interruption.aborted) throw new CommandFailure('Interrupted.');
    const report = scoreResults(results, serviceHeader);
    output.result(describe(output, report, results), { url: receiver.url.href, ...report });
    return report.passed ? 0 : 1;
  } finally {
    finished.abort();
  }
}

async function sendAll(target: CheckTarget, requests: Iterable<CheckResult['request']>): Promise<CheckResult[]> {
  // Imported here: the HTTP client in it would delay every other command.
  const { sendRequest } = await import('./send-request.ts');
  const results: CheckResult[] = [];
  for (const request of requests) {
    const response = target.signal.aborted ? null : await sendRequest(target, request);
    if (results.length === 0 && response?.failure === 'ECONNREFUSED') {
      throw new CommandFailure(`No server listens at ${target.receiver.url.href}. Start your receiver first.`);
    }
    if (results.length === 0 && (response?.status === 404 || response?.status === 405)) {
      throw new CommandFailure(`Your receiver responds with ${response.status} at this address. Check the path.`);
    }
    results.push({ request, response });
  }
  return results;
}

function describe(output: Output, report: CheckReport, results: readonly CheckResult[]): string {
  const { checks, score, advice } = report;
  const lines = table(
    ['', 'expected', 'response', 'ms'],
    checks.map(({ title, wanted, duration_ms: duration, ...row }) => [
      title,
      wanted,
      outcomeText(row),
      String(duration ?? ''),
    ]),
  ).split('\n');
  const width = Math.max(...lines.map((line) => line.length)) + 2;
  const rows = lines.map((line, index) => `${line.padEnd(width)}${verdictText(output, checks[index - 1])}`.trimEnd());
  const failures = checks.flatMap((row) => (row.advice === null ? [] : [`${row.title}: ${row.advice}`]));
  return [
    ...rows,
    '',
    `${score.passed} of ${score.of} checks passed.`,
    ...[...new Set([...failures, ...advice])].map((sentence) => `- ${sentence}`),
    '',
    manualChecks(results),
  ].join('\n');
}

function outcomeText({ status, failure }: Pick<CheckRow, 'status' | 'failure'>): string {
  return status === null ? (failure ?? '') : String(status);
}

function verdictText(output: Output, row: CheckRow | undefined): string {
  if (row === undefined) return '';
  if (row.verdict === 'failed') return output.colour('red', 'failed');
  return row.verdict === 'passed' ? output.colour('green', 'passed') : output.colour('dim', 'not used');
}

/** What only the receiver's own records show. */
function manualChecks(results: readonly CheckResult[]): string {
  const bodyOf = (name: CheckResult['request']['name']) => {
    const body = results.find(({ request }) => request.name === name)?.request.body.toString('utf8');
    return JSON.parse(body ?? '{}') as { id: string; data: { id: string } };
  };
  return (
    `Check your own records as well. The event ${bodyOf('repeated').id} was sent twice: it must be processed once. ` +
    `Of the record ${bodyOf('older').data.id} the later event was sent first: the earlier one must be processed too, ` +
    'without overwriting your copy of the newer record.'
  );
}
