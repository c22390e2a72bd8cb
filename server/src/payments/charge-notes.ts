import type { Queryable } from '../kit/db.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';
import { insertChargeNote } from './queries.ts';

/** What passed between us and a network, for the timeline. */
export type NoteKind =
  | 'sent_to_network'
  | 'no_clear_answer'
  | 'cancel_requested'
  | 'code_entered'
  | 'approval_reported'
  | 'refusal_ignored';

/** `detail` is a sentence without secrets, codes or full numbers. */
export async function noteCharge(
  db: Queryable,
  context: Pick<PaymentContext, 'clock' | 'newId'>,
  charge: Pick<Charge, 'merchantId' | 'id'>,
  kind: NoteKind,
  detail: string,
): Promise<void> {
  const { merchantId, id: chargeId } = charge;
  await db.run(
    insertChargeNote({ merchantId, chargeId, id: context.newId(), kind, detail, createdAt: context.clock.now() }),
  );
}
