import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import { getLink, listLinksWithRateLimit, setLinkRateLimit } from '../links/manage-links.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { Merchant, MerchantRateLimits } from '../merchants/merchant.ts';
import { lockTerms, setRateLimits } from '../merchants/manage-rules.ts';
import { parseRate, rateLimitKinds, type RateLimitKind } from '../merchants/rate-limit-kinds.ts';
import { rateText, rateValues } from '../merchants/rule-values.ts';
import { getTerminal, listTerminalsWithRateLimit, setTerminalRateLimit } from '../terminals/manage-terminals.ts';
import { aboutMerchant, auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { merchantInWords, merchantOf } from './merchant-of.ts';

const show: Command = {
  name: 'rate-limits show',
  usage: '--merchant <merchant id>',
  summary: 'Show the rate limits of a merchant and its pages',
  run: async (context, input) => describe(context, await merchantOf(context, input)),
};

const set: Command = {
  name: 'rate-limits set',
  usage:
    '--merchant <merchant id> [--requests <a second>|none] [--key-percent <percent>] [--pages <a second>|none] ' +
    '[--link <link id> | --counter <counter id>]',
  summary: 'Set the rate limits of a merchant, a link or a counter',
  details: '  With --link or --counter, --pages applies to that page alone.',
  async run(context, input) {
    const sent = rateLimitKinds.filter(({ name }) => input.options[name] !== undefined);
    if (sent.length === 0) throw new UsageError('Give at least one limit: --requests, --key-percent or --pages.');
    const limits = Object.fromEntries(sent.map((kind) => [kind.field, readRate(kind, input.options[kind.name] ?? '')]));
    await change(context, input, async (tx, merchant, page) => {
      if (page === null) await setOwn(tx, context, merchant, limits);
      else await setOfPage(tx, context, merchant, page, onlyPages(sent, limits['rateLimitPages'] ?? null));
    });
    return describe(context, await merchantOf(context, input));
  },
};

const clear: Command = {
  name: 'rate-limits clear',
  usage: '<requests|key-percent|pages> --merchant <merchant id> [--link <link id> | --counter <counter id>]',
  summary: 'Remove a rate limit',
  details: '  The setting of the server applies again; for one link or counter, the limit of its merchant.',
  async run(context, input) {
    const kind = rateLimitKinds.find(({ name }) => name === input.positionals[0]);
    if (!kind) {
      throw new UsageError(
        `A rate limit is ${rateLimitKinds.map(({ name }) => name).join(', ')}, not ${input.positionals[0]}.`,
      );
    }
    await change(context, input, async (tx, merchant, page) => {
      const current = page === null ? merchant[kind.field] : page.limit;
      if (current === null) {
        throw new UsageError(`This limit is not set. See: rate-limits show --merchant ${merchant.id}`);
      }
      if (page === null) await setOwn(tx, context, merchant, { [kind.field]: null });
      else await setOfPage(tx, context, merchant, page, onlyPages([kind], null));
    });
    return describe(context, await merchantOf(context, input));
  },
};

export const rateLimitCommands: readonly Command[] = [show, set, clear];

/** Changes the limits of a merchant or a page, which are read while nobody else changes terms. */
function change(
  { db }: CommandContext,
  input: CommandInput,
  act: (tx: Transaction, merchant: Merchant, page: NamedPage | null) => Promise<void>,
): Promise<void> {
  return db.withTransaction(async (tx) => {
    await lockTerms(tx);
    const merchant = await merchantOf({ db: tx }, input);
    await act(tx, merchant, await pageOf(tx, input, merchant));
  });
}

async function setOwn(
  tx: Transaction,
  context: CommandContext,
  merchant: Merchant,
  limits: Partial<MerchantRateLimits>,
): Promise<void> {
  await setRateLimits(tx, merchant.id, limits);
  auditCommand(tx, context, {
    ...{ ...aboutMerchant(merchant), action: 'rate-limits.set' },
    ...{ sent: rateValues(limits), before: rateValues(merchant) },
  });
}

async function setOfPage(
  tx: Transaction,
  context: CommandContext,
  merchant: Merchant,
  page: NamedPage,
  rate: bigint | null,
): Promise<void> {
  await page.setLimit(tx, rate);
  auditCommand(tx, context, {
    ...{ ...aboutMerchant(merchant), action: 'page-rate-limits.set', object: page.object },
    ...{ sent: { pages: rateText(rate) }, before: { pages: rateText(page.limit) } },
  });
}

function readRate(kind: RateLimitKind, text: string): bigint {
  const rate = parseRate(kind, text);
  if (rate !== undefined) return rate;
  const { name, max, canBeNone } = kind;
  throw new UsageError(`--${name} is a whole number from 1 to ${max}${canBeNone ? ' or none' : ''}, not ${text}.`);
}

/** A single page has no limit but that of its payments. */
function onlyPages(sent: readonly RateLimitKind[], rate: bigint | null): bigint | null {
  const [other] = sent.filter(({ name }) => name !== 'pages');
  if (other) throw new UsageError(`${other.name} is a limit of the merchant: omit --link and --counter.`);
  return rate;
}

/** A link or a counter, with the rate limit that it has of its own. */
interface NamedPage {
  object: { type: 'link' | 'counter'; id: string };
  limit: bigint | null;
  setLimit(tx: Transaction, rate: bigint | null): Promise<unknown>;
}

/** The link or counter of --link or --counter; null without either. Throws AppError `not_found` for one of another merchant. */
async function pageOf(
  db: Queryable,
  { options: { link, counter } }: CommandInput,
  { id: merchantId }: Merchant,
): Promise<NamedPage | null> {
  if (link !== undefined && counter !== undefined) throw new UsageError('Give either --link or --counter, not both.');
  if (link !== undefined) {
    const found = await getLink(db, merchantId, link);
    const object = { type: 'link', id: found.id } as const;
    return { object, limit: found.rateLimit, setLimit: (tx, rate) => setLinkRateLimit(tx, found, rate) };
  }
  if (counter === undefined) return null;
  const found = await getTerminal(db, merchantId, counter);
  const object = { type: 'counter', id: found.id } as const;
  return { object, limit: found.rateLimit, setLimit: (tx, rate) => setTerminalRateLimit(tx, found, rate) };
}

/** The limits in force, read again after a change. */
async function describe({ db, rateLimits }: CommandContext, merchant: Merchant): Promise<CommandResult> {
  const links = await listLinksWithRateLimit(db, merchant.id);
  const counters = await listTerminalsWithRateLimit(db, merchant.id);
  const limits = rateLimitKinds.map((kind) => {
    const own = merchant[kind.field];
    const setting = kind.setting(merchant);
    return { kind, own, rate: own ?? BigInt(rateLimits[setting.field]), setting: setting.name };
  });
  const pages = [
    ...links.map(({ id, title, rateLimit }) => ({ type: 'link', id, name: title, rate: rateLimit })),
    ...counters.map(({ id, name, rateLimit }) => ({ type: 'counter', id, name, rate: rateLimit })),
  ];
  const rows = limits.map(({ kind, own, rate, setting }) => [
    kind.name,
    inWords(rate, kind.unit),
    own === null ? setting : 'own rule',
  ]);
  // A table of its own: beside ids, the limits of the merchant would not line up on 80 columns.
  const pageRows = pages.map(({ type, id, name, rate }) => [`${type} ${id}`, inWords(rate, 'a second'), name]);
  const data = {
    merchant_id: merchant.id,
    rate_limits: limits.map(({ kind, own, rate, setting }) => ({
      limit: kind.name,
      rate: Number(rate),
      source: own === null ? setting : 'merchant',
    })),
    pages: pages.map((page) => ({ ...page, rate: Number(page.rate) })),
  };
  const text = [
    `${merchantInWords(merchant)}, ${merchant.id}`,
    table(['LIMIT', 'RATE', 'FROM'], rows),
    ...(pageRows.length === 0 ? [] : ['', table(['PAGE', 'PAYMENTS', 'NAME'], pageRows)]),
  ].join('\n');
  return { text, data, exitCode: 0 };
}

function inWords(rate: bigint | null, unit: string): string {
  return rate === 0n ? 'no limit' : `${rate} ${unit}`;
}
