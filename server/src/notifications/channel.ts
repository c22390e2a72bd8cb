/**
 * What every chat channel implements. A channel has a transport and a pure translation of responses to the types below.
 * Two rules come first: a response that is missing or not understood is `unknown`, and nothing that a channel reports
 * ever changes a payment.
 */
export interface Channel {
  readonly name: ChannelName;
  /** Whether it can reach this number, as far as it knows before a send. */
  reaches(number: string): Promise<boolean>;
  /** Sends one message, never inside a transaction. Never rejects because of what the other side does. */
  send(notice: Notice): Promise<SendResponse>;
}

export type ChannelName = 'whatsapp' | 'telegram' | 'development';

/** One message to one number. */
export interface Notice {
  merchantId: string;
  id: string;
  /** E.164. */
  number: string;
  /** The channel's own id of this number, from the last message that it accepted. */
  recipient: string | null;
  /** The whole text, for channels without templates. */
  message: string;
  /** The parts of the text, for channels with templates; each is one line and not empty. */
  templateParts: readonly string[];
}

/** How a send ended; `deliver-notice.ts` acts on it. The reason is a sentence for the merchant. */
export type SendResponse =
  /** Accepted, not yet delivered. */
  | { state: 'accepted'; messageId: string; recipient: string | null }
  /** Not accepted; worth a retry. `appliesToChannel`: the channel accepts no other message before then either. */
  | { state: 'retry'; reason: string; afterMs?: number; appliesToChannel?: boolean }
  /** The channel will never accept this message, but accepts others. */
  | { state: 'refused'; reason: string }
  | { state: 'stop_number'; reason: string }
  | { state: 'stop_template'; reason: string }
  | { state: 'stop_channel'; reason: string }
  /** It may have been accepted. */
  | { state: 'unknown'; reason: string };

/** The channels of each environment, in the order in which they are tried. */
export interface ChannelSet {
  test: readonly Channel[];
  live: readonly Channel[];
}

/** A request without a response: one that was never sent is worth a retry, any other may have arrived. */
export function failureResponse(failure: string): SendResponse {
  const reason = 'The channel could not be reached.';
  return notSent.has(failure) ? { state: 'retry', reason } : { state: 'unknown', reason };
}

const notSent: ReadonlySet<string> = new Set(['connect_timeout', 'refused', 'unreachable', 'dns', 'tls', 'blocked']);

/** Parses what a channel sent; null if it is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
