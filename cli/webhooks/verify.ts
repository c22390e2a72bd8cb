import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { readTimeOption } from '../../server/src/kit/time-option.ts';
import { sanitizeLine } from '../../server/src/kit/terminal-text.ts';
import type { Output } from '../output.ts';
import { describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { causes, type Cause } from './causes.ts';
import { diagnose, type Diagnosis } from './diagnose.ts';
import { readHeader, readHeadersText } from './raw-headers.ts';
import { readBytes, readOtherSecrets, readSecret, secretFileDetails } from './secrets.ts';
import { readServiceHeader, serviceHeaderDetails } from './service-header.ts';

// Larger than any event; a mistyped file name must not read a whole disk.
const bodyBytesMax = 10 * 1024 * 1024;

/** Verifies the signatures of a request, and explains a failure. Works offline. */
export const verifyCommand: Command = {
  name: 'webhooks verify',
  usage: '[<body file>] [--header <header>]… [--headers-file <file>]',
  summary: 'Verify a signed event, and explain a failure',
  details: `  The body is read as bytes from the file or from standard input. Nothing is sent.

${describeOptions([
  secretFileDetails,
  ['--other-secret-file FILE', 'other possible secrets, one per line, each alone or after a name; repeatable'],
  ['--header HEADER', "one header of the request, 'name: value'; repeatable"],
  ['--headers-file FILE', 'all headers: as received, as curl -v prints them, or as a JSON object'],
  serviceHeaderDetails,
  ['--at TIME', 'time of receipt: 2026-11-20T10:18:00Z, or 15m for 15 minutes ago; default: now'],
])}

  dalasi webhooks verify body.json --headers-file headers.txt --at 2026-11-20T10:18:00Z

  The exit code is 0 when every signature in the request verifies, otherwise 1.`,
  moreOptions: '[--secret-file <file>] [--other-secret-file <file>]... [--service-header <name>] [--at <time>]',
  run: verify,
};

async function verify(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { options, lists, positionals } = input;
  const receivedAtOption = options['at'];
  const diagnoses = diagnose({
    secret: readSecret(context, input),
    otherSecrets: readOtherSecrets(lists['other-secret-file'] ?? []),
    headers: readHeaders(input),
    serviceHeader: readServiceHeader(input),
    receivedAt:
      receivedAtOption === undefined
        ? context.clock.now()
        : readTimeOption(context.clock, { option: 'at', text: receivedAtOption, ofDay: 'first' }),
    body: await readBody(context, positionals[0]),
  });
  const verified = diagnoses.every(({ verifies }) => verifies);
  context.output.result(diagnoses.map((diagnosis) => describe(context.output, diagnosis)).join('\n\n'), {
    verified,
    signatures: diagnoses.map((diagnosis) => ({
      ...diagnosis,
      causes: diagnosis.causes.map((cause) => ({ ...cause, explanation: explain(cause), advice: adviceOn(cause) })),
    })),
  });
  return verified ? 0 : 1;
}

function describe(output: Output, { header, verifies, causes: foundCauses }: Diagnosis): string {
  if (verifies) return `${header} ${output.colour('green', 'verifies')}.`;
  return [
    `${header} ${output.colour('red', 'does not verify')}.`,
    ...foundCauses.flatMap((cause) => [
      `  ${sanitizeLine(explain(cause))}`,
      `  ${output.colour('dim', adviceOn(cause))}`,
    ]),
  ].join('\n');
}

function explain({ cause, detail }: Cause): string {
  return detail === undefined ? causes[cause].what : `${causes[cause].what} ${detail}`;
}

function adviceOn({ cause }: Cause): string {
  return causes[cause].advice;
}

function readHeaders({ options, lists }: CommandInput): Map<string, string> {
  const path = options['headers-file'];
  const headers = [
    ...(path === undefined ? [] : readHeadersText(readBytes(path).toString('utf8'))),
    ...(lists['header'] ?? []).map(readHeader),
  ];
  if (headers.length > 0) return new Map(headers);
  throw new UsageError('Give the headers of the request: --headers-file FILE, or one --header for each.');
}

async function readBody({ terminal }: CommandContext, path: string | undefined): Promise<Buffer> {
  if ((path === undefined || path === '-') && terminal.isInteractive) {
    throw new UsageError('Name the file with the body, or pipe it to standard input: < body.json');
  }
  const body = path === undefined || path === '-' ? await terminal.readInput() : readBytes(path);
  if (body.length > bodyBytesMax) throw new UsageError('The body is longer than 10 MB. No event is that long.');
  return body;
}
