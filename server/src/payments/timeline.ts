import { textOf } from '../kit/untyped.ts';
import type { JsonRecord } from '../events/kinds.ts';
import { listEventsOfObjects } from '../events/list-events.ts';
import { formatAmount } from '../kit/money.ts';
import { explainShare } from '../sub-accounts/share-explanation.ts';
import { shareBase } from '../sub-accounts/shares.ts';
import { partsOf } from './charge.ts';
import { networkName } from '../networks/known-networks.ts';
import type { PaymentContext } from './context.ts';
import { totalMinor, type Intent } from './intent.ts';
import { listNotesOfCharges } from './queries/charge-notes.ts';
import { listChargesOfIntent } from './queries/charges.ts';

/** The history of a payment, oldest first: its events and the notes of its charges. */
export async function paymentTimeline({ db }: Pick<PaymentContext, 'db'>, intent: Intent): Promise<JsonRecord[]> {
  const { merchantId, id } = intent;
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
      detail: event.kind === 'payment_intent.created' ? creationDetail(intent) : eventDetail(event.kind, event.record),
    })),
    ...notes.map((note) => ({
      at: note.createdAt,
      id: note.id,
      kind: note.kind,
      transactionId: note.chargeId,
      detail: note.detail,
    })),
  ];
  // Version 7 ids also order what happened within one millisecond.
  return entries
    .toSorted((left, right) => left.at.getTime() - right.at.getTime() || (left.id < right.id ? -1 : 1))
    .map(({ at, kind, transactionId, detail }) => ({
      at: at.toISOString(),
      kind,
      transaction_id: transactionId,
      detail,
    }));
}

function eventDetail(kind: string, record: JsonRecord): string {
  const network = networkName(textOf(record['payment_method']));
  switch (kind) {
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
      return `${network} reversed the payment.`;
    default:
      return kind;
  }
}

/** With the fee, each share and its rounding, and what the merchant receives. */
function creationDetail(intent: Intent): string {
  const { shares, feeMinor } = intent;
  const baseMinor = shareBase(intent);
  const parts = partsOf(intent, shares, totalMinor(intent));
  const sentences = [
    'The payment was created.',
    ...(feeMinor > 0n ? [`The fee is ${formatAmount(feeMinor)}, paid by the ${intent.feePayer}.`] : []),
    ...shares.map((share) => {
      const explained = explainShare(baseMinor, share).text;
      return `Sub-account ${share.subAccountId} gets ${formatAmount(share.amountMinor)}: ${explained}`;
    }),
    ...(shares.length > 0 || feeMinor > 0n ? [`The merchant receives ${formatAmount(parts.merchantMinor)}.`] : []),
  ];
  return sentences.join(' ');
}
