import pino from 'pino';
import { RepeatedWarnings } from './repeated-warnings.ts';
import { terminalLine } from './terminal-line.ts';

// What every line may carry: the process, and the message and stack of an error.
const ownFields = ['pid', 'error', 'stack'];

export type LogFields = Readonly<Record<string, string | number | bigint | boolean | null | undefined>>;

export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  /** Of equal warnings ten a second are written, the others counted (`kit/repeated-warnings.ts`). */
  warn(message: string, fields?: LogFields): void;
  /** The message and stack of `error` are logged, its other properties never. */
  error(message: string, error?: unknown, fields?: LogFields): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields by name. */
export interface LoggedFields {
  /** The only fields that are written; all others are left out of a line. */
  logged: readonly string[];
  /** Those of them in which equal lines differ, such as a request's id. */
  differing: readonly string[];
  /** Those of them that are for programs and not shown at a terminal. */
  omittedAtTerminal: readonly string[];
}

export interface LogOptions {
  fields: LoggedFields;
  level: LogLevel;
  /** Lines for people, instead of one JSON object each. */
  isTerminal?: boolean;
  /** Default: standard error. */
  write?: (line: string) => void;
}

export function createLog(options: LogOptions): Log {
  const destination = destinationOf(options);
  const allowed = new Set([...ownFields, ...options.fields.logged]);
  const onlyAllowed = (fields: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => allowed.has(name)));
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
    (level: 'debug' | 'info'): Log['debug'] =>
    (message, fields) => {
      if (logger.isLevelEnabled(level)) logger[level](plain(fields), message);
    };
  const warnings = new RepeatedWarnings(options.fields.differing, (message, fields) =>
    logger.warn(plain(fields), message),
  );
  return {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: (message, fields) => {
      if (logger.isLevelEnabled('warn')) warnings.add(message, fields);
    },
    error: (message, error, fields) => logger.error({ ...plain(fields), ...describe(error) }, message),
  };
}

function destinationOf({ fields, isTerminal = false, write }: LogOptions): pino.DestinationStream {
  if (!isTerminal) return write ? { write } : pino.destination({ fd: 2, sync: false });
  const print = write ?? ((text: string) => process.stderr.write(text));
  const omitted = new Set(fields.omittedAtTerminal);
  return { write: (line) => print(terminalLine(line, omitted)) };
}

function plain(fields: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
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
  [/(?<!\d)\d{6,20}:[\w-]{30,}/g, 'bot token …'],
  [/(postgres(?:ql)?:\/\/[^:@/\s]*):[^@\s]*@/g, '$1:…@'],
  [/\+?\b\d{3,9}(?=\d{4}\b)(?<=\b\+?\d{3,9})/g, '…'],
];

function hideSecrets<Value>(value: Value): Value | string {
  if (typeof value !== 'string') return value;
  return secretPatterns.reduce((text, [pattern, replacement]) => text.replace(pattern, replacement), value as string);
}
