/** Queues are worked side by side, each with limits of its own, so that one that hangs delays no other. */
export type QueueName = 'webhooks' | 'settlement' | 'notifications' | `network:${string}`;

/**
 * The queues of one network. A payer waits for a `start`, so it never waits behind payouts that are held back; and what
 * begins something never waits behind `look-ups`, which also hold the cancellations: both are of things that were sent
 * before.
 */
export type NetworkQueueKind = 'starts' | 'payouts' | 'look-ups';

/** What work there is. A subject has at most one row of a kind: asking twice brings the one forward. */
export type WorkKind =
  | 'start_charge'
  | 'look_up_charge'
  | 'cancel_charge'
  | 'send_transfer'
  | 'look_up_transfer'
  | 'settle_charge'
  | 'notify_charge'
  | 'dispatch_event';

export interface NewWork {
  merchantId: string;
  queue: QueueName;
  kind: WorkKind;
  subjectId: string;
  /** Defaults to now. */
  dueAt?: Date;
}

export interface Work {
  merchantId: string;
  queue: QueueName;
  kind: WorkKind;
  subjectId: string;
  /** Counts the claims, this one included. */
  attempts: bigint;
  version: bigint;
  /** When it was first asked for. */
  createdAt: Date;
}

export interface QueueBacklog {
  queue: string;
  /** Pieces that are due. */
  count: bigint;
  /** Null when nothing is due. */
  oldestDueAt: Date | null;
  /** Pieces that wait for a later moment, or are being done. */
  waitingCount: bigint;
}
