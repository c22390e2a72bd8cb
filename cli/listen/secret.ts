import { UsageError } from '../../server/src/kit/command-line.ts';
import type { CommandInput } from '../../server/src/kit/command-line.ts';
import { newSecret, secretPrefix } from '../../server/src/webhooks/endpoint-secret.ts';
import type { ApiSettings } from '../api/settings.ts';
import { readTextFile } from '../api/settings.ts';
import type { CommandContext } from '../command.ts';

/** What signs the forwarded events, and where it comes from; it is shown only when it was made just now. */
export interface SigningSecret {
  secret: string;
  source: string;
  isNew: boolean;
}

// What Standard Webhooks asks for.
const bytesMin = 24;

/** The first that is there: a file, the environment, the demo endpoint's when the key is the demo's. Else a new one. */
export function findSecret(
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
      `What ${source} holds is not a webhook secret: those begin with ${secretPrefix}, and all of it is needed.`,
    );
  }
  return { secret, source, isNew: false };
}
