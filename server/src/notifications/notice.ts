import type { ChannelName } from './channel.ts';

/**
 * `pending`: due at `dueAt`. `sent`: the channel accepted it. `delivered`, `read`, `failed`: as the channel reported.
 * `dropped`: we gave it up, without a final report of the channel.
 */
export type NoticeStatus = 'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'dropped';

/** One message to one number about one payment. */
export interface NoticeRow {
  merchantId: string;
  id: string;
  /** E.164. */
  number: string;
  status: NoticeStatus;
  /** Counts the claims; guards the writes of one claim against a later one. */
  attempts: bigint;
  /** Null once the notice is complete. */
  dueAt: Date | null;
}

/** What is known of a number at a channel. */
export interface NumberState {
  channel: ChannelName;
  /** The earliest time of the next message. */
  nextAt: Date;
  stoppedReason: string | null;
  stoppedAt: Date | null;
  recipient: string | null;
}

/** A message on a simulated phone. */
export interface ChatMessage {
  id: string;
  body: string;
  createdAt: Date;
}
