import { readFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { UsageError, type CommandInput } from '../../server/src/kit/command-line.ts';
import { errorCode, unreadableFile } from '../../server/src/kit/start-error.ts';
import { isTestApiKey, isWellFormedApiKey } from '../../server/src/merchants/api-key.ts';
import type { CommandContext } from '../command.ts';
import { readSavedKeys } from '../keys/saved-keys.ts';

/** The options of every command that calls the API. */
export const apiOptions = '[--url <url>] [--key-file <file>]';

/** Their rows in the help of a command. */
export const apiOptionDetails = [
  ['--url URL', 'address of the service; default: DALASI_URL, else the address saved with the key'],
  ['--key-file FILE', 'file with the API key; default: DALASI_API_KEY, else the saved key'],
] as const;

/** The address of the API and the key to call it with. */
export interface ApiSettings {
  url: string;
  key: string;
  testMode: boolean;
  /** In words: `DALASI_API_KEY`. */
  keySource: string;
  /** The secret of the demo merchant's endpoint, where the key is the demo's. */
  demoWebhookSecret: string | null;
}

type Environment = CommandContext['environment'];
type FoundKey = Pick<ApiSettings, 'key' | 'keySource'> & { url: string | null; demoWebhookSecret?: string };

const repository = join(import.meta.dirname, '../..');
/** Where `npm start` listens unless it is told otherwise. */
export const defaultUrl = 'http://localhost:8080';

/**
 * The first that is set: the option, the environment, the saved key in use, the demo key of a development server on this
 * machine. Throws UsageError.
 */
export function readApiSettings(environment: Environment, { options }: Pick<CommandInput, 'options'>): ApiSettings {
  const found = findKey(environment, options['key-file']);
  if (!found) throw new UsageError(noKeyMessage);
  const { key, keySource, demoWebhookSecret = null } = found;
  if (!isWellFormedApiKey(key)) {
    throw new UsageError(`The key of ${keySource} is not an API key: it is incomplete or mistyped.`);
  }
  const url = readUrl(options['url'] ?? (environment['DALASI_URL'] || found.url || defaultUrl));
  const testMode = isTestApiKey(key);
  refusePlainText(url, testMode);
  return { url: url.href.replace(/\/$/, ''), key, testMode, keySource, demoWebhookSecret };
}

const noKeyMessage =
  'No API key found. Start a development server with npm start, set DALASI_API_KEY, or save a key with: ' +
  'dalasi keys save. A development server with a DATA_DIR is found by the same DATA_DIR.';

function findKey(environment: Environment, keyFile: string | undefined): FoundKey | undefined {
  if (keyFile !== undefined) return { key: readTextFile(keyFile, '--key-file'), keySource: keyFile, url: null };
  const fromEnvironment = environment['DALASI_API_KEY']?.trim();
  if (fromEnvironment) return { key: fromEnvironment, keySource: 'DALASI_API_KEY', url: null };
  const { current, keys } = readSavedKeys(environment);
  const saved = current === null ? undefined : keys.get(current);
  if (saved) return { ...saved, keySource: `the saved key ${current}` };
  return findDemo(environment);
}

/** The key of the demo merchant, which `npm start` writes to `demo.json`. */
export function findDemo(environment: Environment): FoundKey | undefined {
  const path = resolve(repository, environment['DATA_DIR'] || 'data', 'demo.json');
  try {
    const demo = JSON.parse(readFileSync(path, 'utf8')) as Record<'base_url' | 'secret_key' | 'webhook_secret', string>;
    const relativePath = relative(repository, path);
    const keySource = relativePath.startsWith('..') ? path : relativePath;
    return { key: demo.secret_key, keySource, url: demo.base_url || null, demoWebhookSecret: demo.webhook_secret };
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw new UsageError(unreadableFile(path, error));
  }
}

/** The text of a file with one secret in it. Throws UsageError naming the option. */
export function readTextFile(path: string, option: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`${option}: ${unreadableFile(path, error)}`);
  }
}

/** An address of an API. Throws UsageError. */
export function readUrl(text: string): URL {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new UsageError(`${JSON.stringify(text)} is not the address of a service, such as ${defaultUrl}.`);
  }
  return url;
}

/** Plain HTTP would show a live key to everybody on the network. Throws UsageError. */
export function refusePlainText(url: URL, testMode: boolean): void {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname);
  if (testMode || isLocal || url.protocol === 'https:') return;
  throw new UsageError(
    `A live key is not sent over plain HTTP. Use an address that begins with https://, not ${url.href}`,
  );
}
