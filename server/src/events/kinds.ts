/** All event types. The first five reach every endpoint that has not chosen its own. */
export const eventKinds = [
  'payment_intent.created',
  'payment_intent.cancelled',
  'charge.succeeded',
  'charge.failed',
  'transfer.succeeded',
  'payment_intent.expired',
  'charge.created',
  'charge.reversed',
  'transfer.created',
  'transfer.failed',
  'transfer.cancelled',
  'transfer.reversed',
  'charge.refunded',
  'sub_account.payout.succeeded',
  'sub_account.payout.failed',
  'customer.created',
  'customer.updated',
  'customer.deleted',
  'webhook_endpoint.test',
  'webhook_endpoint.failing',
  'webhook_endpoint.disabled',
] as const;

export type EventKind = (typeof eventKinds)[number];

export const defaultEventKinds: readonly EventKind[] = eventKinds.slice(0, 5);

/** The JSON value type of records and metadata as they were parsed. */
export type JsonRecord = { readonly [key: string]: unknown };
