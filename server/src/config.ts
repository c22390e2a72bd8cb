import { parseAmount } from './kit/money.ts';
import type { LogLevel } from './kit/log.ts';
import { StartError } from './kit/start-error.ts';
import { settings } from './settings.ts';
import type { SettingName } from './settings.ts';

export interface Config {
  port: number;
  host: string;
  /** Null: `http://localhost:<port>`, known once the server listens. */
  publicUrl: string | null;
  internalUrl: string | null;
  databaseUrl: string | null;
  appDatabaseUrl: string | null;
  databaseConnections: number;
  dataDirectory: string;
  production: boolean;
  role: 'all' | 'api' | 'worker';
  /** Null in development: made and kept in the data directory. */
  sealKey: string | null;
  sealKeysOld: string[];
  keyPepper: string | null;
  demoWebhookUrl: string | null;
  signatureHeader: string;
  intentLifetimeMs: number;
  amountMinMinor: bigint;
  amountMaxMinor: bigint;
  rateLimitLive: number;
  rateLimitTest: number;
  logLevel: LogLevel;
}

type Environment = Readonly<Record<string, string | undefined>>;

const minuteMs = 60_000;
const keyBytes = 32;

/** Reads and checks all settings. Throws StartError naming the first that is wrong and what it takes. */
export function readConfig(environment: Environment): Config {
  const read = reader(environment);
  const databaseUrl = read.url('DATABASE_URL', ['postgres:', 'postgresql:']);
  const production =
    read.choice('APP_ENV', ['development', 'production'], databaseUrl === null ? 'development' : 'production') ===
    'production';
  const config: Config = {
    port: read.integer('PORT', 0, 65_535),
    host: read.text('HOST') ?? (production ? '0.0.0.0' : '127.0.0.1'),
    publicUrl: withoutSlash(read.url('PUBLIC_URL', ['http:', 'https:'])),
    internalUrl: withoutSlash(read.url('INTERNAL_URL', ['http:', 'https:'])),
    databaseUrl,
    appDatabaseUrl: read.url('APP_DATABASE_URL', ['postgres:', 'postgresql:']),
    databaseConnections: read.integer('DATABASE_CONNECTIONS', 4, 100),
    dataDirectory: read.text('DATA_DIR') ?? 'data',
    production,
    role: read.choice('ROLE', ['all', 'api', 'worker'], 'all'),
    sealKey: read.key('SEAL_KEY'),
    sealKeysOld: (read.text('SEAL_KEYS_OLD') ?? '').split(',').filter((key) => key.trim() !== ''),
    keyPepper: read.key('KEY_PEPPER'),
    demoWebhookUrl: read.url('DEMO_WEBHOOK_URL', ['http:', 'https:']),
    signatureHeader: read.headerName('SIGNATURE_HEADER'),
    intentLifetimeMs: read.integer('INTENT_LIFETIME_MINUTES', 1, 10_080) * minuteMs,
    amountMinMinor: read.amount('AMOUNT_MIN'),
    amountMaxMinor: read.amount('AMOUNT_MAX'),
    rateLimitLive: read.integer('RATE_LIMIT_LIVE', 0, 100_000),
    rateLimitTest: read.integer('RATE_LIMIT_TEST', 0, 100_000),
    logLevel: read.choice('LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], 'info'),
  };
  checkTogether(config);
  return config;
}

/** What one setting demands of another. */
function checkTogether(config: Config): void {
  if (config.amountMaxMinor < config.amountMinMinor) throw new StartError('AMOUNT_MAX must not be below AMOUNT_MIN.');
  if (!config.production) return;
  if (config.sealKey === null) throw new StartError('SEAL_KEY is required in production: openssl rand -base64 32');
  if (config.keyPepper === null) throw new StartError('KEY_PEPPER is required in production: openssl rand -base64 32');
  if (config.publicUrl === null) {
    throw new StartError('PUBLIC_URL is required in production, for example https://pay.example.gm');
  }
}

function reader(environment: Environment) {
  const text = (name: SettingName): string | null => {
    const value = environment[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const orDefault = (name: SettingName): string =>
    text(name) ?? settings.find((setting) => setting.name === name)?.default ?? '';
  return {
    text,
    integer: (name: SettingName, min: number, max: number): number => {
      const value = orDefault(name);
      if (!/^\d{1,9}$/.test(value) || Number(value) < min || Number(value) > max) {
        throw new StartError(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(value)}.`);
      }
      return Number(value);
    },
    choice: <Choice extends string>(name: SettingName, choices: readonly Choice[], fallback: Choice): Choice => {
      const value = text(name) ?? fallback;
      const choice = choices.find((candidate) => candidate === value);
      if (choice === undefined) {
        throw new StartError(`${name} must be ${choices.join(', ')}, not ${JSON.stringify(value)}.`);
      }
      return choice;
    },
    url: (name: SettingName, schemes: readonly string[]): string | null => {
      const value = text(name);
      if (value === null) return null;
      // The value may hold a password, so the message does not repeat it.
      if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
        throw new StartError(`${name} must be an address that begins with ${schemes.join('// or ')}//.`);
      }
      return value;
    },
    key: (name: SettingName): string | null => {
      const value = text(name);
      if (value === null) return null;
      const bytes = /^[0-9a-f]+$/i.test(value) ? value.length / 2 : Buffer.from(value, 'base64').length;
      if (bytes !== keyBytes)
        throw new StartError(`${name} must be 32 bytes in base64 or hex: openssl rand -base64 32`);
      return value;
    },
    headerName: (name: SettingName): string => {
      const value = orDefault(name).toLowerCase();
      if (!/^[a-z0-9-]{1,64}$/.test(value)) throw new StartError(`${name} must be the name of a header.`);
      return value;
    },
    amount: (name: SettingName): bigint => {
      const value = orDefault(name);
      if (!/^\d{1,9}(\.\d{1,2})?$/.test(value) || Number(value) === 0) {
        throw new StartError(`${name} must be an amount in dalasi above 0, not ${JSON.stringify(value)}.`);
      }
      return parseAmount(Number(value));
    },
  };
}

function withoutSlash(url: string | null): string | null {
  return url === null ? null : url.replace(/\/+$/, '');
}
