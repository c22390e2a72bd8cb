import type { Queryable } from '../kit/db.ts';
import { findTransactionOwner } from '../networks/provider-transactions.ts';
import { findPaidCharge, lockPaidCharge } from '../receipts/receipt-store.ts';
import { transactionKeyOf, type Receipt } from '../receipts/receipt.ts';
import type { Charge } from './charge.ts';
import type { PaymentContext } from './context.ts';

/**
 * The charge that the transaction of a receipt has paid already, by a receipt of any till of the merchant or through an API of the
 * network, of which the shop's phone may get a message too; null for none.
 */
export async function findPaidBy(
  { db, networks }: Pick<PaymentContext, 'db' | 'networks'>,
  receipt: Receipt,
): Promise<string | null> {
  return (await findPaidCharge(db, receipt)) ?? paidThroughApi(db, networks, receipt);
}

/** The same, and nobody else makes another of its receipts pay before this transaction ends. */
export async function lockPaidBy(
  tx: Queryable,
  { networks }: Pick<PaymentContext, 'networks'>,
  receipt: Receipt,
): Promise<string | null> {
  return (await lockPaidCharge(tx, receipt)) ?? paidThroughApi(tx, networks, receipt);
}

/**
 * Whether a transaction that an API reports has paid by a receipt already: the payer has typed its id for another payment. Claim the
 * transaction first: either this finds the receipt, or `lockPaidBy` the claim.
 */
export async function lockPaidByReceipt(
  tx: Queryable,
  { networks }: Pick<PaymentContext, 'networks'>,
  { merchantId, network, receivedDirectly }: Pick<Charge, 'merchantId' | 'network' | 'receivedDirectly'>,
  transactionId: string,
): Promise<boolean> {
  if (receivedDirectly || !networks.hasReceipts(merchantId, network)) return false;
  const transactionKey = transactionKeyOf(transactionId);
  if (transactionKey === null) return false;
  return (await lockPaidCharge(tx, { merchantId, network, transactionKey })) !== null;
}

async function paidThroughApi(
  db: Queryable,
  networks: PaymentContext['networks'],
  { merchantId, network, transactionId, transactionKey }: Receipt,
): Promise<string | null> {
  const connectors = [true, false].flatMap((testMode) => networks.list(testMode));
  for (const { capabilities, collections } of connectors) {
    if (capabilities.network !== network || collections === null || collections.capabilities.shape === 'receipt')
      continue;
    // Of thousands of accounts most are other merchants' own, which have collected nothing for this one.
    if (capabilities.merchantId !== null && capabilities.merchantId !== merchantId) continue;
    for (const id of new Set([transactionId, transactionKey])) {
      const owner = await findTransactionOwner(db, capabilities.railAccount, id);
      if (owner?.merchantId === merchantId) return owner.subjectId;
    }
  }
  return null;
}
