import { readFileSync } from 'node:fs';
import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { unreadableFile } from '../../server/src/kit/start-error.ts';
import { findDemo } from '../api/settings.ts';
import type { CommandContext } from '../command.ts';
import type { NamedSecret } from './signature-search.ts';

export const secretVariable = 'DALASI_WEBHOOK_SECRET';

/** The row of --secret-file in the help of a command. */
export const secretFileDetails = [
  '--secret-file FILE',
  `file with the secret of the endpoint; default: ${secretVariable}, else that of the demo endpoint. The command line ` +
    'takes no secret, because other users of the machine can see it.',
] as const;

/**
 * The secret exactly as configured; without one that of the demo endpoint of a development server on this machine, with a note. Throws
 * UsageError.
 */
export function readSecret(
  { environment, output }: Pick<CommandContext, 'environment' | 'output'>,
  { options }: Pick<CommandInput, 'options'>,
): string {
  const path = options['secret-file'];
  // A file usually ends with a newline, so that one is no mistake.
  const set = path === undefined ? environment[secretVariable] : readText(path).replace(/\r?\n$/, '');
  const demo = set === undefined ? findDemo(environment) : undefined;
  if (demo) output.note(`With the webhook secret of ${demo.keySource}.`);
  const secret = set ?? demo?.demoWebhookSecret ?? '';
  if (secret.trim() !== '') return secret;
  throw new UsageError(
    path === undefined
      ? `No webhook secret found. Set ${secretVariable}, or name a file with --secret-file.`
      : `${path} is empty. It must hold the secret of the endpoint, which begins with wh_.`,
  );
}

// A secret itself may end with =. What does not begin with wh_ may still be one, without its beginning.
const wholeLine = /^(?:(.*?)[\s:=]+)?["']?(wh_[^\s"']+)["']?$/;
const anyLine = /^(.*?)[\s:]*(\S+)$/;

/** Other secrets, one a line, each alone or behind a name: `shop wh_…`, `shop=wh_…`. Throws UsageError. */
export function readOtherSecrets(paths: readonly string[]): NamedSecret[] {
  return paths.flatMap((path) => {
    const lines = [...readText(path).split(/\r?\n/).entries()].filter(([, line]) => line.trim() !== '');
    return lines.map(([index, line]) => {
      const [, name = '', secret = ''] = wholeLine.exec(line.trim()) ?? anyLine.exec(line.trim()) ?? [];
      const where = lines.length === 1 ? path : `${path}, line ${index + 1}`;
      return { name: name === '' ? where : name, secret };
    });
  });
}

/** Throws UsageError. */
export function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(unreadableFile(path, error));
  }
}

function readText(path: string): string {
  return readBytes(path).toString('utf8');
}
