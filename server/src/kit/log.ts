import pino from 'pino';
import { terminalLine } from './terminal-line.ts';

/**
 * The fields that may be logged. All others are left out, so that a secret or a phone number cannot get into the log as part
 * of an object; adding a field is a decision.
 */
const allowedFields = new Set([
  'request_id',
  'merchant_id',
  'method',
  'route',
  'status',
  'duration_ms',
  'code',
  'internal',
  'network',
  'channel',
  'charge_id',
  'intent_id',
  'case_id',
  'event_id',
  'endpoint_id',
  'delivery_id',
  'kind',
  'queue',
  'attempts',
  'detail',
  'reason',
  'count',
  'role',
  'port',
  'pid',
  'error',
  'stack',
]);

export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** The message and stack of `error` are logged, its other properties never. */
  error(message: string, error?: unknown, fields?: LogFields): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LogOptions {
  level: LogLevel;
  /** Lines for people, instead of one JSON object each. */
  isTerminal?: boolean;
  /** Default: standard error. */
  write?: (line: string) => void;
}

export function createLog(options: LogOptions): Log {
  const destination = destinationOf(options);
  const logger = pino(
    {
      level: options.level,
      base: { pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: onlyAllowed, bindings: onlyAllowed },
    },
    destination,
  );
  // Checked first: preparing the fields of a line that is not written costs as much as writing it.
  const logAt =
    (level: 'debug' | 'info' | 'warn'): Log['debug'] =>
    (message, fields) => {
      if (logger.isLevelEnabled(level)) logger[level](plain(fields), message);
    };
  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: (message, error, fields) => logger.error({ ...plain(fields), ...describe(error) }, message),
  };
}

function destinationOf({ isTerminal = false, write }: LogOptions): pino.DestinationStream {
  if (!isTerminal) return write ? { write } : pino.destination({ fd: 2, sync: false });
  const print = write ?? ((text: string) => process.stderr.write(text));
  return { write: (line) => print(terminalLine(line)) };
}

function onlyAllowed(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => allowedFields.has(name)));
}

function plain(fields: LogFields | undefined): Record<string, unknown> {
  const entries = Object.entries(fields ?? {});
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : hideSecrets(value)]),
  );
}

function describe(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error))
    return error === undefined ? {} : { error: 'something that is not an Error was thrown' };
  const cause = error.cause instanceof Error ? ` (because: ${error.cause.message})` : '';
  return { error: hideSecrets(error.message + cause), stack: hideSecrets(error.stack) };
}

// A second line of defence behind the list of fields: keys, webhook secrets, bearer tokens and phone numbers in a sentence.
const secretPatterns: readonly [RegExp, string][] = [
  [/sk_(test|live)_[0-9A-Za-z]+/g, 'sk_$1_…'],
  [/wh_[0-9A-Za-z+/=]{20,}/g, 'wh_…'],
  [/[Bb]earer\s+\S+/g, 'Bearer …'],
  [/\d{6,}:[\w-]{30,}/g, 'bot token …'],
  [/(postgres(?:ql)?:\/\/[^:@/\s]*):[^@\s]*@/g, '$1:…@'],
  [/\+?\b\d{3,9}(?=\d{4}\b)(?<=\b\+?\d{3,9})/g, '…'],
];

function hideSecrets<Value>(value: Value): Value | string {
  if (typeof value !== 'string') return value;
  return secretPatterns.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), value as string);
}
