import type { List, ListReader } from '../api/list-reader.ts';
import type { PageRequest } from '../api/pagination.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { listUnmatchedReceipts, type ReceiptFilter } from '../receipts/receipt-store.ts';
import type { Receipt } from '../receipts/receipt.ts';
import type { Charge } from './charge.ts';
import type { Intent } from './intent.ts';
import { findChargeById } from './queries/charges.ts';
import { findIntentById, listIntentsByIds } from './queries/intents.ts';
import { listUnpaidByReceipt, mayBelongFilter } from './queries/receipt-proposals.ts';
import { listTypedIdsOfTransactions, type TypedIdRow } from './queries/typed-ids.ts';
import { mustBeConfirmed, whyNotPaying } from './typed-id.ts';

const proposalsMax = 20;
// A payer may pay a day late, and a message may be as old as a gateway repeats it.
const proposedForMs = 3 * dayMs;
// Older ones are rather ordinary payments to the till, which belong to no payment here.
const decidedWithinMs = 7 * dayMs;

/** A payment to which a receipt may belong. */
export interface Proposal {
  intent: Intent;
  charge: Charge;
}

/**
 * Unpaid payments of the same till and amount around the time of a receipt, the payer's own number first. Only proposals: a
 * stranger's ordinary payment to the till may have the same amount.
 */
export async function proposalsFor(db: Queryable, receipt: Receipt): Promise<Proposal[]> {
  const { merchantId, railAccount, amountMinor, datedAt, payerNumber } = receipt;
  const found = await listUnpaidByReceipt(db, {
    ...{ merchantId, railAccount, amountMinor, rowsMax: proposalsMax },
    ...{ start: addMs(datedAt, -proposedForMs), end: addMs(datedAt, proposedForMs) },
  });
  const digits = (text: string | null): string => text?.replaceAll(/\D/g, '').slice(-7) ?? '';
  const isPayers = ({ accountCanonical }: Charge): boolean =>
    digits(payerNumber) !== '' && digits(accountCanonical) === digits(payerNumber);
  const intents = await listIntentsByIds(
    db,
    merchantId,
    found.map(({ intentId }) => intentId),
  );
  // Of several attempts of a payment the newest.
  return intents
    .flatMap((intent) =>
      found
        .filter(({ intentId }) => intentId === intent.id)
        .slice(0, 1)
        .map((charge) => ({ intent, charge })),
    )
    .toSorted((one, other) => (one.charge.id < other.charge.id ? 1 : -1))
    .toSorted((one, other) => Number(isPayers(other.charge)) - Number(isPayers(one.charge)));
}

/**
 * The list of receipts that have paid nothing; with `mayBelong` those of the last days on which a person may have to decide: their
 * id was typed, or there are proposals for them. Throws as `listUnmatchedReceipts`.
 */
export function listReceiptsToMatch(
  lists: ListReader,
  merchantId: string,
  page: PageRequest,
  { mayBelong, now, ...filter }: Omit<ReceiptFilter, 'only'> & { mayBelong: boolean; now: Date },
): Promise<List<Receipt>> {
  const only = mayBelongFilter({ since: addMs(now, -decidedWithinMs), aroundMs: proposedForMs });
  return listUnmatchedReceipts(lists, merchantId, page, { ...filter, ...(mayBelong && { only }) });
}

/** Why a receipt has paid nothing, in a sentence, and the payments for which its id was typed. */
export interface Unmatched {
  reason: string;
  typedFor: readonly TypedIdRow[];
}

/** By the receipts' ids. */
export async function whyUnmatched(
  db: Queryable,
  merchantId: string,
  receipts: readonly Receipt[],
): Promise<ReadonlyMap<string, Unmatched>> {
  const typed = receipts.length === 0 ? [] : await listTypedIdsOfTransactions(db, merchantId, receipts);
  const found = new Map<string, Unmatched>();
  for (const receipt of receipts) {
    const typedFor = typed.filter(
      ({ railAccount, transactionKey }) =>
        railAccount === receipt.railAccount && transactionKey === receipt.transactionKey,
    );
    found.set(receipt.id, { reason: await reasonOf(db, receipt, typedFor), typedFor });
  }
  return found;
}

async function reasonOf(db: Queryable, receipt: Receipt, typedFor: readonly TypedIdRow[]): Promise<string> {
  const [first] = typedFor;
  if (receipt.status === 'contradicted') return 'The network’s statement contradicts it.';
  if (!first) return 'No payer has typed its transaction id.';
  if (typedFor.some(({ state }) => state === 'contested')) {
    return typedFor.length > 1
      ? 'Payers typed its transaction id for more than one payment.'
      : 'Its transaction id was typed for a payment that was paid already.';
  }
  if (typedFor.some(({ state }) => state === 'waiting')) {
    return (await mustBeConfirmed(db, receipt))
      ? 'It is above the limit for unconfirmed receipts, and no line of the statement confirms it yet.'
      : 'It is being matched.';
  }
  const charge = await findChargeById(db, receipt.merchantId, first.chargeId);
  const intent = charge && (await findIntentById(db, receipt.merchantId, charge.intentId));
  const reason = charge && intent ? whyNotPaying(receipt, charge, intent) : null;
  return reason ?? 'Its payer typed another transaction id after it.';
}
