import { cancelWork, enqueue } from '../events/outbox.ts';
import { pagesOf } from '../kit/pages-of.ts';
import type { TransferContext } from './context.ts';
import { listUnsentTransfers } from './queries.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfers } from './transfer-change.ts';
import { isUnsent, lookUpWork } from './transfer.ts';

const rowsMax = 1_000;

/**
 * After a restore: the merchant's transfers that this copy has not sent may have been sent since by what it was copied from. They
 * count as submitted, so that each is looked up, and sent under its reference only once its network says that it knows none
 * and the earlier request can no longer arrive. Repeatable. Returns how many it changed.
 */
export async function lookUpUnsentTransfers(context: TransferContext, merchantId: string): Promise<number> {
  let changed = 0;
  const pages = pagesOf<string>(rowsMax, (after) => listUnsentTransfers(context.db, merchantId, { after, rowsMax }));
  for await (const ids of pages) {
    for (const id of ids) if (await lookUpFirst(context, merchantId, id)) changed += 1;
  }
  return changed;
}

/** Returns false for a transfer that was sent, or ended, since it was listed. */
function lookUpFirst(context: TransferContext, merchantId: string, id: string): Promise<boolean> {
  return withLockedTransfers(context, { merchantId, ids: [id] }, async (tx, [locked]) => {
    if (!locked || !isUnsent(locked.transfer)) return false;
    const { merchant, transfer } = locked;
    cancelWork(tx, { merchantId, kind: 'send_transfer', subjectId: id });
    enqueue(tx, context, lookUpWork(merchant, transfer));
    const detail = 'The database was restored: the network is asked first whether it knows of the transfer.';
    noteTransfer(tx, context, transfer, 'restored', detail);
    const sentAt = context.clock.now();
    const change = { progress: 'submitted', sends: transfer.sends + 1n, sentAt, waitingFor: null } as const;
    await changeTransfer(tx, context, locked, change);
    return true;
  });
}
