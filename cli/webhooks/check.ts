import { table, UsageError } from '../../server/src/kit/command-line.ts';
import type { CommandInput } from '../../server/src/kit/command-line.ts';
import { CommandFailure } from '../command.ts';
import type { Command, CommandContext, ExitCode } from '../command.ts';
import type { Output } from '../output.ts';
import { scoreResults } from './check-score.ts';
import type { CheckReport, CheckRow, CheckResult } from './check-score.ts';
import { checkRequests } from './check-requests.ts';
import { isWholeSecret } from './diagnose.ts';
import { readOwnReceiver } from './own-receiver.ts';
import type { CheckTarget } from './send-request.ts';
import { readSecret, secretDetails } from './secrets.ts';

const text = { type: 'string', required: false } as const;
// A receiver that leaves every request unanswered would take five minutes.
const checkMaxMs = 120_000;

/** Fires at the person's own receiver what will come one day, and scores what it does. */
export const checkCommand: Command = {
  name: 'webhooks check',
  usage: '<url> [--secret-file <file>] [--yes-it-is-mine]',
  summary: 'Send your receiver good, repeated, late and forged events, and score it',
  details: `  Eighteen requests, one after the other, in at most two minutes; all events are in test and say what they are.

${secretDetails}
  --service-header NAME      where the operator has given x-service-signature another name
  --yes-it-is-mine           the receiver is yours, although it is not on this machine or its network

  dalasi webhooks check http://localhost:4000/webhooks

  Ends with 0 when everything that is required was right, with 1 when something was not.`,
  options: { 'secret-file': text, 'service-header': text },
  flags: ['yes-it-is-mine'],
  positionals: 1,
  run: check,
};

async function check(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { options, flags, positionals } = input;
  const secret = readSecret(context.environment, input).trim();
  if (!isWholeSecret(secret))
    throw new UsageError('The secret is not a webhook secret: wh_ and at least 32 characters.');
  const receiver = await readOwnReceiver(positionals[0] ?? '', { isClaimed: flags.has('yes-it-is-mine') });
  const serviceHeader = (options['service-header'] ?? 'x-service-signature').toLowerCase();
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
  // Here, because it brings an HTTP client along, which every other command would wait for.
  const { sendRequest } = await import('./send-request.ts');
  const results: CheckResult[] = [];
  for (const request of requests) {
    const response = target.signal.aborted ? null : await sendRequest(target, request);
    if (results.length === 0 && response?.failure === 'ECONNREFUSED') {
      throw new CommandFailure(`Nothing listens at ${target.receiver.url.href}. Start your receiver first.`);
    }
    if (results.length === 0 && (response?.status === 404 || response?.status === 405)) {
      throw new CommandFailure(`Your receiver answers ${response.status} at this address. Is the path right?`);
    }
    results.push({ request, response });
  }
  return results;
}

function describe(output: Output, report: CheckReport, results: readonly CheckResult[]): string {
  const { checks, score, advice } = report;
  const lines = table(
    ['', 'wanted', 'answer', 'ms'],
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
    `${score.passed} of ${score.of} as it should be.`,
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
  if (row.verdict === 'failed') return output.colour('red', 'wrong');
  return row.verdict === 'passed' ? output.colour('green', 'right') : output.colour('dim', 'not looked at');
}

/** What only the receiver's own records tell. */
function manualChecks(results: readonly CheckResult[]): string {
  const bodyOf = (name: CheckResult['request']['name']) => {
    const body = results.find(({ request }) => request.name === name)?.request.body.toString('utf8');
    return JSON.parse(body ?? '{}') as { id: string; data: { id: string } };
  };
  return (
    `Look into your own records as well. The event ${bodyOf('repeated').id} came twice: its work must be done once. ` +
    `Of the record ${bodyOf('older').data.id} the later event came first: the earlier one must have been handled too, ` +
    'without overwriting your copy of the newer record.'
  );
}
