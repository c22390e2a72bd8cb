import { maskApiKey } from '../../server/src/merchants/api-key.ts';
import { table, UsageError } from '../../server/src/kit/command-line.ts';
import { ownerPage, readResponse } from '../api/responses.ts';
import { ApiUnavailable, ApiError, createApi } from '../api/client.ts';
import { apiDetails, apiOptions, readApiSettings } from '../api/settings.ts';
import type { ApiSettings } from '../api/settings.ts';
import type { Command, CommandContext } from '../command.ts';
import { readSavedKeys } from './saved-keys.ts';
import type { SavedKeys } from './saved-keys.ts';

/** What the service says of a key. */
interface KeyStatus {
  works: boolean;
  /** Known from the newest transaction; null where there is none yet. */
  businessId: string | null;
  accountId: string | null;
  problem: string | null;
}

/** Which key is used, where it comes from and whose it is: the first thing to look at when a command surprises. */
export const showKeys: Command = {
  name: 'keys',
  usage: '[--url <url>] [--key-file <file>]',
  summary: 'Show which API key is used and whose it is, and the saved keys',
  details: `${apiDetails}

  A key comes from --key-file, else DALASI_API_KEY, else the saved key in use, else data/demo.json of a
  development server on this machine. It ends with 1 when the service does not take the key.`,
  options: apiOptions,
  positionals: 0,
  async run(context, input) {
    const saved = readSavedKeys(context.environment);
    const current = findCurrentKey(context, input);
    const keyStatus = current ? await verifyKey(context, current) : null;
    const text = [
      current && keyStatus ? currentKeyText(current, keyStatus) : 'No key is used: none was found.',
      savedText(saved),
    ];
    context.output.result(text.join('\n\n'), {
      used: current && keyStatus ? currentKeyJson(current, keyStatus) : null,
      saved: [...saved.keys].map(([name, { key, url }]) => ({
        name,
        key: maskApiKey(key),
        url,
        in_use: name === saved.current,
      })),
    });
    return keyStatus?.works ? 0 : 1;
  },
};

function findCurrentKey(context: CommandContext, input: Parameters<Command['run']>[1]): ApiSettings | null {
  try {
    return readApiSettings(context.environment, input);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    context.output.note(error.message);
    return null;
  }
}

/** One cheap read: it tells whether the key is taken, and a transaction says whose it is. */
async function verifyKey({ clock }: CommandContext, settings: ApiSettings): Promise<KeyStatus> {
  try {
    const { body } = await createApi(clock, settings).get('/v1/transactions', { limit: 1 });
    const [newest] = readResponse(ownerPage, body).data;
    return {
      works: true,
      businessId: newest?.business_id ?? null,
      accountId: newest?.account_id ?? null,
      problem: null,
    };
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ApiUnavailable)) throw error;
    return { works: false, businessId: null, accountId: null, problem: error.message };
  }
}

function currentKeyText({ url, key, testMode, keySource }: ApiSettings, { businessId, problem }: KeyStatus): string {
  const owner = businessId === null ? 'It has no transactions yet.' : `It belongs to the business ${businessId}.`;
  return [
    `${maskApiKey(key)}, from ${keySource}, at ${url}`,
    testMode ? 'A test key: no real money moves.' : 'A LIVE key: real money moves.',
    problem ?? `The service takes it. ${owner}`,
  ].join('\n');
}

function currentKeyJson({ url, key, testMode, keySource }: ApiSettings, keyStatus: KeyStatus): Record<string, unknown> {
  const { works, businessId, accountId, problem } = keyStatus;
  const owner = { business_id: businessId, account_id: accountId };
  return { key: maskApiKey(key), source: keySource, url, test_mode: testMode, works, ...owner, problem };
}

function savedText({ current, keys }: SavedKeys): string {
  if (keys.size === 0) return 'No keys are saved.';
  const rows = [...keys].map(([name, { key, url }]) => [name, maskApiKey(key), url, name === current ? 'in use' : '']);
  return table(['SAVED', 'KEY', 'ADDRESS', ''], rows);
}
