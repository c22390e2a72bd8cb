import { maskApiKey } from '../../server/src/merchants/api-key.ts';
import { table, UsageError } from '../../server/src/kit/command-line.ts';
import { ownerPage, readResponse } from '../api/responses.ts';
import { ApiUnavailable, ApiError, createApi } from '../api/client.ts';
import { apiOptionDetails, readApiSettings, type ApiSettings } from '../api/settings.ts';
import { describeOptions, type Command, type CommandContext } from '../command.ts';
import { readSavedKeys, type SavedKeys } from './saved-keys.ts';

/** What the service says of a key. */
interface KeyStatus {
  works: boolean;
  /** Known from the newest transaction; null where there is none yet. */
  businessId: string | null;
  accountId: string | null;
  problem: string | null;
}

/** The key in use, its source and its owner. */
export const showKeys: Command = {
  name: 'keys',
  usage: '[--url <url>] [--key-file <file>]',
  summary: 'Show the API key in use, its owner, and the saved keys',
  details: `${describeOptions(apiOptionDetails)}

  The key is that of --key-file, else DALASI_API_KEY, else the saved key in use,
  else data/demo.json of a development server on this machine. The exit code is 1
  when the service refuses the key.`,
  async run(context, input) {
    const saved = readSavedKeys(context.environment);
    const current = findCurrentKey(context, input);
    const keyStatus = current ? await verifyKey(context, current) : null;
    const text = [current && keyStatus ? currentKeyText(current, keyStatus) : 'No key is in use.', savedText(saved)];
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

/** One cheap read shows whether the key is accepted; a transaction names its business. */
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
    problem ?? `The service accepts it. ${owner}`,
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
