/**
 * What every chat channel offers. A channel has a transport and, beside it, a pure translation of what the other side
 * answered into the words below. Two rules stand above all: an answer that is missing or not understood is `unknown`,
 * and nothing that a channel says ever touches a payment.
 */
export interface Channel {
  readonly name: ChannelName;
  /** Whether it can write to this number as far as it knows before trying. */
  reaches(number: string): Promise<boolean>;
  /** Sends one message. Never inside a transaction, and never rejects for what the other side does. */
  send(notice: Notice): Promise<SendResponse>;
}

export type ChannelName = 'whatsapp' | 'telegram' | 'development';

/** One message to one number. */
export interface Notice {
  merchantId: string;
  id: string;
  /** E.164. */
  number: string;
  /** What the channel itself called this number when it last took a message. */
  recipient: string | null;
  /** The whole text, for channels that take any. */
  message: string;
  /** What it says, part by part, for channels that take templates; each is one line and not empty. */
  templateParts: readonly string[];
}

/** How a send ended; what follows from each is in `deliver-notice.ts`. The reason is a sentence for the merchant. */
export type SendResponse =
  /** Taken, which is not yet delivered. */
  | { state: 'accepted'; messageId: string; recipient: string | null }
  /** Not taken, and worth another try. `appliesToChannel`: nobody else's message is taken before then either. */
  | { state: 'retry'; reason: string; afterMs?: number; appliesToChannel?: boolean }
  /** This message will never be taken; others are. */
  | { state: 'refused'; reason: string }
  | { state: 'stop_number'; reason: string }
  | { state: 'stop_template'; reason: string }
  | { state: 'stop_channel'; reason: string }
  /** It may have been taken. */
  | { state: 'unknown'; reason: string };

/** The channels of an environment, in the order in which they are tried. */
export interface ChannelSet {
  test: readonly Channel[];
  live: readonly Channel[];
}

/** Transport that came to no answer: what surely never left is worth another try, the rest may have arrived. */
export function failureResponse(failure: string): SendResponse {
  const reason = 'The channel could not be reached.';
  return notSent.has(failure) ? { state: 'retry', reason } : { state: 'unknown', reason };
}

const notSent: ReadonlySet<string> = new Set(['connect_timeout', 'refused', 'unreachable', 'dns', 'tls', 'blocked']);
