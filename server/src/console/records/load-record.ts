import { AppError } from '../../api/app-error.ts';
import { html, type Html } from '../../kit/html.ts';
import { formatAmount } from '../../kit/money.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { foreignText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { findPayment, listAttempts, type FoundPayment } from '../../payments/find-payment.ts';
import type { Charge } from '../../payments/charge.ts';
import { totalMinor } from '../../payments/intent.ts';
import { shownTime, stateMark, timeInSentence, type StateMark } from '../../portal/patterns/texts.ts';
import { paymentState } from '../../portal/records/payment-state.ts';
import { refundState } from '../../portal/records/refund-state.ts';
import { transferState } from '../../portal/records/transfer-state.ts';
import { findRefund } from '../../refunds/find-refund.ts';
import type { Refund } from '../../refunds/refund.ts';
import type { FoundRecord } from '../../reports/find-records.ts';
import { findTransferById } from '../../transfers/find-transfer.ts';
import type { Transfer } from '../../transfers/transfer.ts';
import type { ConsoleVisit } from '../visit.ts';

/** A record of any merchant, in the words in which the merchant sees it too. */
export interface LoadedRecord {
  id: string;
  merchant: Merchant;
  name: string;
  amountMinor: bigint;
  createdAt: Date;
  state: StateMark;
  of:
    | { kind: 'payment'; payment: FoundPayment; attempts: readonly Charge[] }
    | { kind: 'transfer'; transfer: Transfer }
    | { kind: 'refund'; transfer: Transfer; refund: Refund };
}

/** Throws AppError `not_found`. */
export async function loadRecord({ money }: ConsoleVisit, found: FoundRecord): Promise<LoadedRecord> {
  const { db, clock } = money;
  const { merchantId, id } = found;
  const merchant = await money.merchants.byId(merchantId);
  if (!merchant) throw notFound();
  if (found.kind === 'payment') {
    const payment = await findPayment(db, merchantId, id);
    const attempts = await listAttempts(db, merchantId, id);
    const state = paymentState(payment, { now: clock.now() });
    const { createdAt } = payment.intent;
    const of = { kind: 'payment', payment, attempts } as const;
    return { ...{ id, merchant, state, createdAt, of }, name: 'Payment', amountMinor: totalMinor(payment.intent) };
  }
  const transfer = await findTransferById(db, merchantId, id);
  if (!transfer) throw notFound();
  const { amountMinor, createdAt } = transfer;
  const networkText = networkName(transfer.network);
  const shared = { id, merchant, amountMinor, createdAt };
  if (found.kind === 'transfer') {
    const name = transfer.kind === 'sub_account_payout' ? 'Payout of a sub-account' : 'Transfer';
    return { ...shared, name, state: transferState(transfer, networkText), of: { kind: 'transfer', transfer } };
  }
  const refund = await findRefund(db, merchantId, id);
  const state = refundState({ ...refund, network: networkText });
  return { ...shared, name: 'Refund', state, of: { kind: 'refund', transfer, refund } };
}

export function notFound(): AppError {
  return new AppError('not_found', 'There is no such payment, transfer or refund in this environment.');
}

/** A row of a table of records: what, when, whose, state and amount. */
export function recordRow({ base, now }: ConsoleVisit, record: LoadedRecord): Html {
  const { id, merchant, name, amountMinor, createdAt, state } = record;
  return html`<tr><td><a href="${base}/records/${id}"><span class="first">${name}</span></a>
<span class="second phone">${foreignText(merchant.name)}, ${timeInSentence(createdAt, now)}</span></td>
<td class="wide">${shownTime(createdAt, now)}</td><td class="wide">${foreignText(merchant.name)}</td>
<td class="wide">${stateMark(state)}</td>
<td class="number"><span class="first">${formatAmount(amountMinor)}</span><span class="second phone">${stateMark(state)}</span></td></tr>`;
}
