import { table, UsageError } from '../kit/command-line.ts';
import type { CommandInput } from '../kit/command-line.ts';
import { getLink, listLinksWithRateLimit, setLinkRateLimit } from '../links/manage-links.ts';
import type { Merchant, MerchantRateLimits } from '../merchants/merchant.ts';
import { setRateLimits } from '../merchants/rate-limits.ts';
import { getTerminal, listTerminalsWithRateLimit, setTerminalRateLimit } from '../terminals/manage-terminals.ts';
import type { Command, CommandContext, CommandResult, RateLimitSettings } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';

/** A limit of a merchant's: how it is typed, where it is kept, and whose setting holds without it. */
interface Kind {
  name: 'requests' | 'key-percent' | 'pages';
  field: keyof MerchantRateLimits;
  /** Whether `none` lifts it. */
  canBeNone: boolean;
  max: number;
  unit: string;
  setting: (merchant: Merchant) => { name: string; field: keyof RateLimitSettings };
}

const ratesMax = 100_000;
const pagesUnit = 'payments a second';

const kinds: readonly Kind[] = [
  {
    name: 'requests',
    field: 'rateLimitPerSecond',
    canBeNone: true,
    max: ratesMax,
    unit: 'requests a second',
    setting: ({ testMode }) =>
      testMode
        ? { name: 'RATE_LIMIT_TEST', field: 'rateLimitTest' }
        : { name: 'RATE_LIMIT_LIVE', field: 'rateLimitLive' },
  },
  {
    name: 'key-percent',
    field: 'rateLimitKeyPercent',
    canBeNone: false,
    max: 100,
    unit: 'percent of them for each key',
    setting: () => ({ name: 'RATE_LIMIT_KEY_PERCENT', field: 'rateLimitKeyPercent' }),
  },
  {
    name: 'pages',
    field: 'rateLimitPages',
    canBeNone: true,
    max: ratesMax,
    unit: `${pagesUnit} from each link and counter`,
    setting: () => ({ name: 'RATE_LIMIT_PAGES', field: 'rateLimitPages' }),
  },
];

const merchantOption = { merchant: { type: 'string', required: true } } as const;
const pageOptions = {
  link: { type: 'string', required: false },
  counter: { type: 'string', required: false },
} as const;

const show: Command = {
  name: 'rate-limits show',
  usage: '--merchant <merchant id>',
  summary: 'Show how many requests a merchant may send, and how many payments its links and counters take',
  options: merchantOption,
  positionals: 0,
  run: async (context, input) => describe(context, await merchantOf(context, input)),
};

const set: Command = {
  name: 'rate-limits set',
  usage:
    '--merchant <merchant id> [--requests <a second>|none] [--key-percent <percent>] [--pages <a second>|none] ' +
    '[--link <link id> | --counter <counter id>]',
  summary: 'Give a merchant other rate limits than the settings; with --link or --counter, one page other --pages',
  options: {
    ...merchantOption,
    ...pageOptions,
    requests: { type: 'string', required: false },
    'key-percent': { type: 'string', required: false },
    pages: { type: 'string', required: false },
  },
  positionals: 0,
  async run(context, input) {
    const sent = kinds.filter(({ name }) => input.options[name] !== undefined);
    if (sent.length === 0) throw new UsageError('Say what to limit: --requests, --key-percent, --pages.');
    const limits = Object.fromEntries(sent.map((kind) => [kind.field, readRate(kind, input.options[kind.name] ?? '')]));
    const merchant = await merchantOf(context, input);
    const page = await pageOf(context, input, merchant);
    if (page === null) await setRateLimits(context.db, merchant.id, limits);
    else await page.setLimit(onlyPages(sent, limits['rateLimitPages'] ?? null));
    return describe(context, await merchantOf(context, input));
  },
};

const clear: Command = {
  name: 'rate-limits clear',
  usage: '<requests|key-percent|pages> --merchant <merchant id> [--link <link id> | --counter <counter id>]',
  summary: 'Take a limit away: the setting holds again, or of one link or counter the merchant’s limit',
  options: { ...merchantOption, ...pageOptions },
  positionals: 1,
  async run(context, input) {
    const kind = kinds.find(({ name }) => name === input.positionals[0]);
    if (!kind) {
      throw new UsageError(`A rate limit is ${kinds.map(({ name }) => name).join(', ')}, not ${input.positionals[0]}.`);
    }
    const merchant = await merchantOf(context, input);
    const page = await pageOf(context, input, merchant);
    const current = page === null ? merchant[kind.field] : page.limit;
    if (current === null) {
      throw new UsageError(`There is no such limit. See: rate-limits show --merchant ${merchant.id}`);
    }
    if (page === null) await setRateLimits(context.db, merchant.id, { [kind.field]: null });
    else await page.setLimit(onlyPages([kind], null));
    return describe(context, await merchantOf(context, input));
  },
};

export const rateLimitCommands: readonly Command[] = [show, set, clear];

/** A whole number from 1, or 0 for `none`. */
function readRate({ name, canBeNone, max }: Kind, text: string): bigint {
  if (canBeNone && text === 'none') return 0n;
  const rate = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (rate >= 1 && rate <= max) return BigInt(rate);
  throw new UsageError(`--${name} is a whole number from 1 to ${max}${canBeNone ? ' or none' : ''}, not ${text}.`);
}

/** Of one page only its payments can be limited. */
function onlyPages(sent: readonly Kind[], rate: bigint | null): bigint | null {
  const [other] = sent.filter(({ name }) => name !== 'pages');
  if (other) throw new UsageError(`${other.name} is a limit of the merchant: leave --link and --counter out.`);
  return rate;
}

/** A link or a counter, with the rate limit that it has of its own. */
interface NamedPage {
  limit: bigint | null;
  setLimit(rate: bigint | null): Promise<void>;
}

/** The link or counter that is named; null where none is. Throws AppError `not_found` for one that is not the merchant's. */
async function pageOf(
  { db }: CommandContext,
  { options: { link, counter } }: CommandInput,
  { id: merchantId }: Merchant,
): Promise<NamedPage | null> {
  if (link !== undefined && counter !== undefined) throw new UsageError('Say either --link or --counter.');
  if (link !== undefined) {
    const found = await getLink(db, merchantId, link);
    return { limit: found.rateLimit, setLimit: (rate) => setLinkRateLimit(db, found, rate) };
  }
  if (counter === undefined) return null;
  const found = await getTerminal(db, merchantId, counter);
  return { limit: found.rateLimit, setLimit: (rate) => setTerminalRateLimit(db, found, rate) };
}

/** What holds now: read again after a command has changed it. */
async function describe({ db, rateLimits }: CommandContext, merchant: Merchant): Promise<CommandResult> {
  const links = await listLinksWithRateLimit(db, merchant.id);
  const counters = await listTerminalsWithRateLimit(db, merchant.id);
  const limits = kinds.map((kind) => {
    const own = merchant[kind.field];
    const setting = kind.setting(merchant);
    return { kind, own, rate: own ?? BigInt(rateLimits[setting.field]), setting: setting.name };
  });
  const pages = [
    ...links.map(({ id, title, rateLimit }) => ({ type: 'link', id, name: title, rate: rateLimit })),
    ...counters.map(({ id, name, rateLimit }) => ({ type: 'counter', id, name, rate: rateLimit })),
  ];
  const rows = [
    ...limits.map(({ kind, own, rate, setting }) => [
      kind.name,
      inWords(rate, kind.unit),
      own === null ? setting : 'own rule',
    ]),
    ...pages.map(({ type, id, name, rate }) => [`${type} ${id} (${name})`, inWords(rate, pagesUnit), 'own rule']),
  ];
  const data = {
    merchant_id: merchant.id,
    rate_limits: limits.map(({ kind, own, rate, setting }) => ({
      limit: kind.name,
      rate: Number(rate),
      source: own === null ? setting : 'merchant',
    })),
    pages: pages.map((page) => ({ ...page, rate: Number(page.rate) })),
  };
  const text = `${merchantInWords(merchant)}, ${merchant.id}\n${table(['LIMIT', 'RATE', 'FROM'], rows)}`;
  return { text, data, exitCode: 0 };
}

function inWords(rate: bigint | null, unit: string): string {
  return rate === 0n ? 'no limit' : `${rate} ${unit}`;
}
