import type { ChannelName } from './channel.ts';

/**
 * `pending`: due at `dueAt`. `sent`: the channel took it. `delivered`, `read`: it said so later. `failed`: it said that
 * the message does not arrive. `dropped`: given up by us, without a last word of the channel's.
 */
export type NoticeStatus = 'pending' | 'sent' | 'delivered' | 'read' | 'failed' | 'dropped';

/** One message to one number about one payment. */
export interface NoticeRow {
  merchantId: string;
  id: string;
  /** E.164. */
  number: string;
  status: NoticeStatus;
  /** Counts the claims; guards what follows from one against a claim that came later. */
  attempts: bigint;
  /** Null once there is nothing left to do. */
  dueAt: Date | null;
}

/** What is known of a number at a channel. */
export interface NumberState {
  channel: ChannelName;
  /** Nothing is sent to it before. */
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
