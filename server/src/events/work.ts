/** Queues are worked concurrently, each with limits of its own, so that one that hangs delays no other. */
export type QueueName = 'webhooks' | 'settlement' | 'notifications' | `network:${string}`;

/**
 * The queues of one network. A payer waits for a `start`, so starts never wait behind payouts, which a circuit breaker may hold.
 * Neither waits behind `look-ups`, which also hold the cancellations: both concern requests that were sent before.
 */
export type NetworkQueueKind = 'starts' | 'payouts' | 'look-ups';

/** A subject has at most one task of a kind: enqueuing it again brings that one forward. */
export type WorkKind =
  | 'start_charge'
  | 'look_up_charge'
  | 'cancel_charge'
  | 'recheck_charge'
  | 'match_receipt'
  | 'send_transfer'
  | 'look_up_transfer'
  | 'recheck_transfer'
  | 'settle_charge'
  | 'notify_charge'
  | 'plan_deliveries'
  // Written by a process of an earlier version while an upgrade is under way.
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
  /** When it was first enqueued. */
  createdAt: Date;
}

export interface ClaimedWork extends Work {
  /** Since when it was due. */
  dueAt: Date;
}

/** Whether it was enqueued again since it was first enqueued: claims count in both numbers, enqueuing only in the version. */
export function wasEnqueuedAgain({ version, attempts }: Work): boolean {
  return version > attempts;
}

export interface QueueBacklog {
  queue: string;
  /** Due tasks. */
  count: bigint;
  /** Null when nothing is due. */
  oldestDueAt: Date | null;
  /** Tasks that are due later, or are being done. */
  waitingCount: bigint;
}
