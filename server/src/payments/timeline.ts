import type { JsonRecord } from '../events/kinds.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import { networkName } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import type { Intent } from './intent.ts';
import { listNotesOfCharges } from './queries/charge-notes.ts';
import { listChargesOfIntent } from './queries/charges.ts';

/** What happened to a payment, oldest first: its events and what passed between us and the networks. */
export async function paymentTimeline(
  context: PaymentContext,
  intent: Intent,
  { testMode }: { testMode: boolean },
): Promise<JsonRecord[]> {
  const { db } = context;
  const { merchantId, id } = intent;
  const nameOf = (network: string): string => networkName(context, network, testMode);
  const charges = await listChargesOfIntent(db, merchantId, id);
  const chargeIds = charges.map((charge) => charge.id);
  const events = await listEventsOfObjects(db, merchantId, [id, ...chargeIds]);
  const notes = await listNotesOfCharges(db, merchantId, chargeIds);
  const entries = [
    ...events.map((event) => ({
      at: event.createdAt,
      id: event.id,
      kind: event.kind,
      transactionId: event.objectId === id ? null : event.objectId,
      detail: eventDetail(event.kind, event.record, nameOf),
    })),
    ...notes.map((note) => ({
      at: note.createdAt,
      id: note.id,
      kind: note.kind,
      transactionId: note.chargeId,
      detail: note.detail,
    })),
  ];
  // Ids of version 7 also order what happened within one millisecond.
  return entries
    .toSorted((left, right) => left.at.getTime() - right.at.getTime() || (left.id < right.id ? -1 : 1))
    .map(({ at, kind, transactionId, detail }) => ({
      at: at.toISOString(),
      kind,
      transaction_id: transactionId,
      detail,
    }));
}

function eventDetail(kind: string, record: JsonRecord, nameOf: (network: string) => string): string {
  const network = nameOf(textOf(record['payment_method']));
  switch (kind) {
    case 'payment_intent.created':
      return 'The payment was created.';
    case 'payment_intent.cancelled':
      return 'The payment was cancelled.';
    case 'payment_intent.expired':
      return 'The time to pay ran out.';
    case 'charge.created':
      return `An attempt with ${network} started.`;
    case 'charge.succeeded':
      return `Paid with ${network}.`;
    case 'charge.failed':
      return textOf(record['failure_reason']) || 'The attempt failed.';
    case 'charge.refunded':
      return `${textOf(record['currency'])} ${String(record['amount_refunded'])} has been refunded.`;
    case 'charge.reversed':
      return `${network} took the payment back.`;
    default:
      return kind;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
