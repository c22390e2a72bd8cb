import { minuteMs } from '../kit/clock.ts';
import { checkOrigin, checkUrl, withoutSlash } from './check-url.ts';
import { isIP } from 'node:net';
import { withExplicitTls } from '../database/connection-url.ts';
import { parseAmount } from '../kit/money.ts';
import { parseKey } from '../kit/seal.ts';
import { StartError } from '../kit/start-error.ts';
import type { SmtpSettings } from '../mail/send-due-mail.ts';
import type { TelegramSettings } from '../notifications/telegram/channel.ts';
import type { WhatsappSettings } from '../notifications/whatsapp/channel.ts';
import { misspeltSettings } from './misspelt-settings.ts';
import { settings, type SettingName } from './settings.ts';

export type Config = ReturnType<typeof readSettings>;

type Environment = Readonly<Record<string, string | undefined>>;

// Headers of webhook requests that a signature would overwrite.
const reservedHeaders: ReadonlySet<string> = new Set([
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'content-type', 'user-agent', 'content-length', 'host'],
  ...['connection', 'keep-alive', 'transfer-encoding', 'upgrade', 'expect', 'te', 'trailer', 'content-encoding'],
]);

/** Reads and checks all settings. Throws StartError naming each that is wrong, with what it takes, and each that is missing. */
export function readConfig(environment: Environment): Config {
  const read = reader(environment);
  const config = readSettings(read);
  const { problems } = read;
  // A wrong amount was read as 0.
  if (config.amountMaxMinor > 0n && config.amountMaxMinor < config.amountMinMinor) {
    problems.push('AMOUNT_MAX must not be below AMOUNT_MIN.');
  }
  if (config.backupDirectory !== null && read.isSet('DATABASE_URL', 'APP_DATABASE_URL')) {
    problems.push(
      'BACKUP_DIR is for the bundled PostgreSQL; yours is backed up by its own tools (docs/operations.md, "Backups").',
    );
  }
  const missing = [...missingForRole(read, config), ...(config.production ? missingInProduction(read) : [])];
  if (missing.length > 0) problems.push(`${missing.join('; ')}.`);
  // A setting that is missing may be one of these.
  if (problems.length > 0) throw new StartError([...problems, ...misspeltSettings(environment)].join('\n'));
  return config;
}

function readSettings(read: Reader) {
  const databaseUrl = read.databaseUrl('DATABASE_URL');
  const appDatabaseUrl = read.databaseUrl('APP_DATABASE_URL');
  const defaultEnvironment = read.isSet('DATABASE_URL', 'APP_DATABASE_URL') ? 'production' : 'development';
  const production = read.choice('APP_ENV', ['development', 'production'], defaultEnvironment) === 'production';
  const backupDirectory = read.text('BACKUP_DIR');
  const isBundled = databaseUrl === null && appDatabaseUrl === null;
  return {
    port: read.integer('PORT', 0, 65_535),
    host: read.text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1'),
    /** Null: `http://localhost:<port>`, known once the server listens. */
    publicUrl: read.origin('PUBLIC_URL'),
    internalUrl: withoutSlash(read.url('INTERNAL_URL')),
    databaseUrl,
    appDatabaseUrl,
    databaseConnections: read.integer('DATABASE_CONNECTIONS', 4, 100),
    dataDirectory: read.text('DATA_DIR') ?? 'data',
    /** Where backups and the archived log go; null for nowhere. */
    backupDirectory,
    /** Whether an operator is to be reminded of backups: those of their own PostgreSQL its own tools make. */
    expectsBackups: backupDirectory !== null || (production && isBundled),
    /** Where the heads of the hash chains are kept; null for the log alone. */
    chainDirectory: read.text('CHAIN_DIR'),
    production,
    /** By network: what a payer dials where no prompt comes. */
    networkDialCodes: read.dialCodes('NETWORK_DIAL_CODES'),
    /** The folder with the networks' logos. */
    networkLogos: read.text('NETWORK_LOGOS'),
    receiptTemplates: read.text('RECEIPT_TEMPLATES'),
    role: read.choice('ROLE', ['all', 'api', 'worker'], 'all'),
    /** Null in development: generated and stored in the data directory. */
    sealKey: read.key('SEAL_KEY'),
    sealKeysOld: read.keys('SEAL_KEYS_OLD'),
    keyPepper: read.key('KEY_PEPPER'),
    /** Whether anybody may create a business. */
    isSignUpOpen: read.choice('SIGN_UP', ['open', 'closed'], production ? 'closed' : 'open') === 'open',
    demoWebhookUrl: read.url('DEMO_WEBHOOK_URL'),
    signatureHeader: read.headerName('SIGNATURE_HEADER'),
    intentLifetimeMs: read.integer('INTENT_LIFETIME_MINUTES', 1, 10_080) * minuteMs,
    settlementDelayMs: read.integer('SETTLEMENT_DELAY_HOURS', 0, 720) * 60 * minuteMs,
    amountMinMinor: read.amount('AMOUNT_MIN'),
    amountMaxMinor: read.amount('AMOUNT_MAX'),
    rateLimitLive: read.integer('RATE_LIMIT_LIVE', 0, 100_000),
    rateLimitTest: read.integer('RATE_LIMIT_TEST', 0, 100_000),
    rateLimitPages: read.integer('RATE_LIMIT_PAGES', 0, 100_000),
    rateLimitKeyPercent: read.integer('RATE_LIMIT_KEY_PERCENT', 1, 100),
    rateLimitKeyless: read.integer('RATE_LIMIT_KEYLESS', 0, 100_000),
    rateLimitCodes: read.integer('RATE_LIMIT_CODES', 0, 100_000),
    /** Addresses and networks of proxies whose X-Forwarded-For is trusted. */
    trustedProxies: read.proxies('TRUSTED_PROXIES'),
    closingNoticeMs: read.integer('CLOSING_NOTICE_SECONDS', 0, 15, production ? '5' : '0') * 1_000,
    logLevel: read.choice('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
    /** Null: the channel is off. */
    whatsapp: readWhatsapp(read),
    telegram: readTelegram(read),
    /** Null: no mail is sent. */
    smtp: readSmtp(read),
    syntheticPaymentKey:
      matching(read, 'SYNTHETIC_PAYMENT_KEY', /^sk_test_[0-9A-Za-z]{38}$/, 'a test key, sk_test_…') || null,
    /** Where the operator gets mails about live endpoints. */
    operatorEmail:
      matching(read, 'OPERATOR_EMAIL', /^[^\s<>@,;]+@[^\s<>@,;]+$/, 'an address, such as payments@example.gm') || null,
  };
}

/** Processes that share the work share a database, and a worker has to find the simulated networks. */
function missingForRole(read: Reader, { role, production }: Config): string[] {
  if (role === 'all') return [];
  // Production requires PUBLIC_URL, which serves as the default.
  const findsNetworks = role === 'api' || production || read.isSet('INTERNAL_URL', 'PUBLIC_URL');
  return [
    ...(read.isSet('DATABASE_URL', 'APP_DATABASE_URL')
      ? []
      : [`ROLE=${role} needs DATABASE_URL: the bundled PostgreSQL serves a single process with ROLE=all`]),
    ...(findsNetworks
      ? []
      : [`ROLE=${role} needs INTERNAL_URL, where an API process listens, for example http://localhost:8080`]),
  ];
}

function missingInProduction(read: Reader): string[] {
  const keys = (['SEAL_KEY', 'KEY_PEPPER'] as const).filter((name) => read.text(name) === null);
  const lacksUrl = read.text('PUBLIC_URL') === null;
  const names = [...keys, ...(lacksUrl ? ['PUBLIC_URL'] : [])];
  if (names.length === 0) return [];
  const hints = [
    ...(keys.length === 0 ? [] : [`make ${keys.length > 1 ? 'each key' : 'it'} with \`openssl rand -base64 32\``]),
    ...(lacksUrl ? ['PUBLIC_URL is for example https://pay.example.gm'] : []),
  ];
  return [`${requiredText(names)} in production; ${hints.join('; ')}`];
}

/** "A is required", "A, B and C are required". */
function requiredText(names: readonly string[]): string {
  const last = names.at(-1);
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last} are required` : `${last} is required`;
}

/** "A or B", "A, B or C". */
function anyOf(choices: readonly string[]): string {
  return `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

// The names of networks in @fastify/proxy-addr, which reads the list.
const namedNetworks: ReadonlySet<string> = new Set(['loopback', 'linklocal', 'uniquelocal']);

function checkDialCodes(name: SettingName, value: string): Map<string, string> {
  const codes = value.split(',').map((entry) => /^\s*([a-z0-9_]+):(\*[0-9*]{1,18}#)\s*$/.exec(entry));
  return new Map(
    codes.map((match) => {
      const [, network, code] = match ?? [];
      if (network === undefined || code === undefined) {
        throw new StartError(`${name} must be networks with their codes, such as afrimoney:*777#,qmoney:*345#.`);
      }
      return [network, code];
    }),
  );
}

/** A trusted proxy chooses the client address for rate limits, so that a network of all addresses is refused. */
function checkProxies(name: SettingName, value: string): string[] {
  const networks = value.split(',').map((network) => network.trim());
  const named = networks.filter((network) => network !== '');
  for (const network of named) {
    // A zone, such as %eth0, has a meaning on one machine only, and the list matches addresses of every zone without it.
    const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(network) ?? [];
    const version = isIP(address);
    const isNetwork = version !== 0 && (prefix === undefined || isBetween(Number(prefix), 1, version === 4 ? 32 : 128));
    if (isNetwork || namedNetworks.has(network)) continue;
    throw new StartError(
      `${name} must be addresses (of IPv6 without %zone), networks such as 10.0.0.0/8, loopback, linklocal or uniquelocal, with commas between.`,
    );
  }
  return named;
}

function isBetween(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

/** Null while the channel is off; its settings are checked all the same. */
function readWhatsapp(read: Reader): WhatsappSettings | null {
  const switchedBy = 'WHATSAPP_ACCESS_TOKEN';
  const accessToken = read.text(switchedBy);
  const settingsOf = {
    baseUrl: serviceAddress(read, 'WHATSAPP_URL'),
    apiVersion: matching(read, 'WHATSAPP_API_VERSION', /^\d{1,3}\.\d$/, 'a version such as 23.0'),
    phoneNumberId: matching(read, 'WHATSAPP_PHONE_NUMBER_ID', /^\d{1,30}$/, 'the digits of an id'),
    template: matching(read, 'WHATSAPP_TEMPLATE', /^[a-z0-9_]{1,512}$/, 'a name of small letters, digits and _'),
    templateLanguage: matching(
      read,
      'WHATSAPP_TEMPLATE_LANGUAGE',
      /^[a-z]{2,3}(_[A-Z]{2})?$/,
      'a code such as en or en_GB',
    ),
    appSecret: read.text('WHATSAPP_APP_SECRET') ?? '',
    verifyToken: read.text('WHATSAPP_VERIFY_TOKEN') ?? '',
  };
  if (accessToken === null) return null;
  const required = [
    'WHATSAPP_PHONE_NUMBER_ID',
    'WHATSAPP_TEMPLATE',
    'WHATSAPP_APP_SECRET',
    'WHATSAPP_VERIFY_TOKEN',
  ] as const;
  requireSet(read, switchedBy, required);
  return { accessToken, ...settingsOf };
}

/** The same for Telegram. The token becomes part of a URL. */
function readTelegram(read: Reader): TelegramSettings | null {
  const botToken = matching(read, 'TELEGRAM_BOT_TOKEN', /^\d{1,20}:[\w-]{1,100}$/, 'as @BotFather writes it, 123456:…');
  const webhookSecret = matching(read, 'TELEGRAM_WEBHOOK_SECRET', /^[\w-]{1,256}$/, 'letters, digits, _ and - only');
  const baseUrl = serviceAddress(read, 'TELEGRAM_URL');
  if (botToken === '') return null;
  requireSet(read, 'TELEGRAM_BOT_TOKEN', ['TELEGRAM_WEBHOOK_SECRET']);
  return { botToken, webhookSecret, baseUrl };
}

function readSmtp(read: Reader): SmtpSettings | null {
  const url = matching(
    read,
    'SMTP_URL',
    /^smtps?:\/\/[^\s?#]+$/,
    'the address of a mail server, such as smtps://user:password@host',
  );
  const from = matching(
    read,
    'MAIL_FROM',
    /^(?:[^\p{C}<>@,;]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/u,
    'a sender, such as Dalasi <pay@example.gm>',
  );
  if (url === '') return null;
  if (!URL.canParse(url)) read.problems.push('SMTP_URL must be the address of a mail server.');
  requireSet(read, 'SMTP_URL', ['MAIL_FROM']);
  return { url, from };
}

function requireSet(read: Reader, switchedBy: SettingName, names: readonly SettingName[]): void {
  const missing = names.filter((name) => read.text(name) === null);
  if (missing.length > 0) read.problems.push(`${requiredText(missing)} with ${switchedBy}.`);
}

/** Empty if not set and without a default. The value may be a secret, so the message does not repeat it. */
function matching(read: Reader, name: SettingName, pattern: RegExp, what: string): string {
  const value = read.orDefault(name);
  if (value !== '' && !pattern.test(value)) read.problems.push(`${name} must be ${what}.`);
  return value;
}

/** The base URL of an external service. */
function serviceAddress(read: Reader, name: SettingName): string {
  return withoutSlash(read.url(name)) ?? read.orDefault(name);
}

type Reader = ReturnType<typeof reader>;

function reader(environment: Environment) {
  const problems: string[] = [];
  const text = (name: SettingName): string | null => {
    const value = environment[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const orDefault = (name: SettingName): string =>
    text(name) ?? settings.find((setting) => setting.name === name)?.default ?? '';
  /** What stands for a wrong value is never used: after all problems are known, the start ends. */
  const checked = <Value>(read: () => Value, whenWrong: Value): Value => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      problems.push(error.message);
      return whenWrong;
    }
  };
  const ifSet = <Value, Unset>(name: SettingName, check: (name: SettingName, value: string) => Value, unset: Unset) => {
    const value = text(name);
    return value === null ? unset : checked<Value | Unset>(() => check(name, value), unset);
  };
  const checkHttp = (name: SettingName, value: string) => checkUrl(name, value, ['http:', 'https:']);
  return {
    /** What is wrong with the settings read so far, a sentence each. */
    problems,
    text,
    /** Whether one of them has a value, be it wrong. */
    isSet: (...names: SettingName[]): boolean => names.some((name) => text(name) !== null),
    orDefault,
    integer: (name: SettingName, min: number, max: number, fallback = orDefault(name)): number =>
      checked(() => checkInteger(name, text(name) ?? fallback, { min, max }), min),
    choice: <Choice extends string>(name: SettingName, choices: readonly Choice[], fallback: Choice): Choice =>
      checked(() => checkChoice(name, text(name) ?? fallback, choices), fallback),
    url: (name: SettingName): string | null => ifSet(name, checkHttp, null),
    origin: (name: SettingName): string | null =>
      ifSet(name, (_, value) => checkOrigin(name, withoutSlash(checkHttp(name, value))), null),
    databaseUrl: (name: SettingName): string | null =>
      ifSet(name, (_, value) => withExplicitTls(checkUrl(name, value, ['postgres:', 'postgresql:'])), null),
    key: (name: SettingName): string | null => ifSet(name, checkKey, null),
    keys: (name: SettingName): string[] => {
      const values = (text(name) ?? '').split(',').map((value) => value.trim());
      return checked(() => values.filter((value) => value !== '').map((value) => checkKey(name, value)), []);
    },
    dialCodes: (name: SettingName): ReadonlyMap<string, string> => ifSet(name, checkDialCodes, new Map()),
    proxies: (name: SettingName): string[] => ifSet(name, checkProxies, []),
    headerName: (name: SettingName): string => checked(() => checkHeaderName(name, orDefault(name).toLowerCase()), ''),
    amount: (name: SettingName): bigint => checked(() => checkAmount(name, orDefault(name)), 0n),
  };
}

function checkInteger(name: SettingName, value: string, { min, max }: { min: number; max: number }): number {
  if (/^\d{1,9}$/.test(value) && isBetween(Number(value), min, max)) return Number(value);
  throw new StartError(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}.`);
}

function checkChoice<Choice extends string>(name: SettingName, value: string, choices: readonly Choice[]): Choice {
  const choice = choices.find((candidate) => candidate === value);
  if (choice !== undefined) return choice;
  throw new StartError(`${name} must be ${anyOf(choices)}, not ${JSON.stringify(value)}.`);
}

function checkHeaderName(name: SettingName, value: string): string {
  if (!/^[a-z0-9-]{1,64}$/.test(value)) throw new StartError(`${name} must be the name of a header.`);
  if (reservedHeaders.has(value)) throw new StartError(`${name} must be a header that webhooks do not use otherwise.`);
  return value;
}

function checkAmount(name: SettingName, value: string): bigint {
  if (/^\d{10,}(\.\d{1,2})?$/.test(value)) {
    throw new StartError(`${name} must be an amount below 1000000000 dalasi, not ${JSON.stringify(value)}.`);
  }
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(value) || Number(value) === 0) {
    throw new StartError(`${name} must be an amount in dalasi above 0, not ${JSON.stringify(value)}.`);
  }
  return parseAmount(Number(value));
}

function checkKey(name: SettingName, value: string): string {
  if (parseKey(value)) return value;
  throw new StartError(`${name} must be 32 bytes in base64 or hex; make them with \`openssl rand -base64 32\`.`);
}
