import type { Statement, Transaction } from '../kit/db.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { insertChargeNote } from './queries/charge-notes.ts';

/** What passed between us and a network, as the timeline shows it. */
export type NoteKind =
  | 'sent_to_network'
  | 'no_clear_answer'
  | 'cancel_requested'
  | 'attempt_abandoned'
  | 'attempt_resumed'
  | 'code_entered'
  | 'approval_reported'
  | 'transaction_id_typed'
  | 'transaction_id_refused'
  | 'receipt_matched'
  | 'receipt_contradicted'
  | 'refusal_ignored'
  | 'held_for_review'
  | 'case_resolved'
  | 'debt_repaid'
  | 'refund_requested'
  | 'refund_completed'
  | 'refund_failed'
  | 'refund_returned';

type NoteContext = Pick<PaymentContext, 'clock' | 'newId'>;
type NotedCharge = Pick<Charge, 'merchantId' | 'id'>;

/** Writes a note with the transaction. `detail` is a sentence without secrets, codes or full numbers. */
export function noteCharge(
  tx: Transaction,
  context: NoteContext,
  charge: NotedCharge,
  kind: NoteKind,
  detail: string,
): void {
  tx.send(noteOf(context, charge, kind, detail));
}

/** Writes a note in a statement of its own. */
export async function noteChargeNow(
  context: NoteContext & Pick<PaymentContext, 'db'>,
  charge: NotedCharge,
  kind: NoteKind,
  detail: string,
): Promise<void> {
  await context.db.run(noteOf(context, charge, kind, detail));
}

function noteOf(context: NoteContext, { merchantId, id }: NotedCharge, kind: NoteKind, detail: string): Statement {
  const createdAt = context.clock.now();
  return insertChargeNote({ merchantId, chargeId: id, id: context.newId(), kind, detail, createdAt });
}
