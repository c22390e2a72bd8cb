import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { assertUrlAllowed, UrlNotAllowedError } from '../../server/src/kit/outbound-guard.ts';
import { readTimeOption, timeForms } from '../../server/src/kit/time-option.ts';
import { newSecret, secretPrefix } from '../../server/src/webhooks/endpoint-secret.ts';
import { createApi } from '../api/client.ts';
import { apiOptionDetails, apiOptions, readApiSettings, readTextFile, type ApiSettings } from '../api/settings.ts';
import { describeOptions, type Command, type CommandContext, type ExitCode } from '../command.ts';
import { followEvents, outageReporter } from '../events/follow-events.ts';
import { readKinds } from '../events/read-kinds.ts';
import { readServiceHeader, serviceHeaderDetails } from '../webhooks/service-header.ts';

export const listenCommand: Command = {
  name: 'listen',
  usage: '--forward-to <url> [--event <kind>]... [--since <time>]',
  summary: 'Forward signed events to your local server as they happen',
  details: `${describeOptions([
    ['--forward-to URL', 'address of your receiver, such as http://localhost:3000/events'],
    ['--event KIND', 'only this kind; repeat for more kinds'],
    ['--since TIME', `also events since then: ${timeForms}`],
    [
      '--secret-file FILE',
      'file with the webhook secret to sign with; default: DALASI_WEBHOOK_SECRET, else the secret of the demo ' +
        'endpoint with the demo key, else a new one that is shown at the start',
    ],
    serviceHeaderDetails,
    ['--live', 'allow a live key'],
    ...apiOptionDetails,
  ])}

  The response of your receiver is shown; events are not retried. While no server
  listens at the address, events wait. Ctrl-C ends the command with a summary.`,
  moreOptions: `[--secret-file <file>] [--service-header <name>] [--live] ${apiOptions}`,
  run,
};

async function run(context: CommandContext, input: CommandInput): Promise<ExitCode> {
  const { clock, output } = context;
  const url = readReceiver(input.options['forward-to'] ?? '');
  const kinds = readKinds(input.lists['event']);
  const since = input.options['since'];
  const start = since === undefined ? 'now' : readTimeOption(clock, { option: 'since', text: since, ofDay: 'first' });
  const signatureHeader = readServiceHeader(input);
  const settings = readApiSettings(context.environment, input);
  refuseLive(settings, input);
  const secret = findSecret(context, input, settings);
  const signal = context.interruption();
  const events = followEvents({
    api: createApi(clock, settings, signal),
    clock,
    signal,
    kinds,
    since: start,
    onReady: () => printStart(context, { url, settings, secret }),
    ...outageReporter(output, settings),
  });
  // Imported here: the HTTP client in it would delay every other command.
  const { listen } = await import('./listen.ts');
  return listen(context, { events, signal, url, secret: secret.secret, signatureHeader });
}

function refuseLive({ testMode, keySource }: ApiSettings, { flags }: CommandInput): void {
  if (testMode || flags.has('live')) return;
  throw new UsageError(
    `The key of ${keySource} is a live key, and its events are about real people. Add --live to forward them.`,
  );
}

/** With --json the first line holds what the receiver needs to know. Only a new secret is shown. */
function printStart(
  { output }: CommandContext,
  { url, settings, secret }: { url: string; settings: ApiSettings; secret: SigningSecret },
): void {
  const mode = settings.testMode ? 'test' : 'LIVE';
  const signatureNote = secret.isNew
    ? `Signed with a secret made for this run: ${secret.secret}`
    : `Signed with the secret of ${secret.source}.`;
  const text = `Forwarding ${mode} events of ${settings.url} to ${url}. Ctrl-C ends it.\n${signatureNote}`;
  const newSecretField = secret.isNew ? { secret: secret.secret } : {};
  output.item(text, {
    forward_to: url,
    from: settings.url,
    test_mode: settings.testMode,
    signed_with: secret.source,
    ...newSecretField,
  });
}

/** The URL of a receiver, checked as a development server checks one. Throws UsageError. */
function readReceiver(text: string): string {
  try {
    return assertUrlAllowed(text, { allowPrivate: true, httpsOnly: false }).href;
  } catch (error) {
    if (!(error instanceof UrlNotAllowedError)) throw error;
    throw new UsageError(`--forward-to: ${error.message}`);
  }
}

/** The secret that signs forwarded events, and its source. Only a new one is shown. */
interface SigningSecret {
  secret: string;
  source: string;
  isNew: boolean;
}

// The minimum of Standard Webhooks.
const bytesMin = 24;

/** The first that is set: the file, the environment, the demo endpoint's with the demo key. Otherwise a new one. */
function findSecret(
  { environment, random }: CommandContext,
  { options }: CommandInput,
  { demoWebhookSecret, keySource }: ApiSettings,
): SigningSecret {
  const file = options['secret-file'];
  if (file !== undefined) return validateSecret(readTextFile(file, '--secret-file'), file);
  const fromEnvironment = environment['DALASI_WEBHOOK_SECRET']?.trim();
  if (fromEnvironment) return validateSecret(fromEnvironment, 'DALASI_WEBHOOK_SECRET');
  if (demoWebhookSecret !== null) return validateSecret(demoWebhookSecret, keySource);
  return { secret: newSecret(random), source: 'made for this run', isNew: true };
}

function validateSecret(secret: string, source: string): SigningSecret {
  const key = secret.startsWith(secretPrefix) ? Buffer.from(secret.slice(secretPrefix.length), 'base64') : Buffer.of();
  if (key.length < bytesMin) {
    throw new UsageError(
      `The secret of ${source} is not a webhook secret: it begins with ${secretPrefix}, and must be complete.`,
    );
  }
  return { secret, source, isNew: false };
}
