import { enqueue, networkQueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { reserveAt } from '../merchants/rules.ts';
import type { Booked, SharedCharge } from './booking.ts';
import { isSettled } from './charge.ts';
import type { Charge } from './charge.ts';
import { changeCharge, changeIntent } from './charge-outcome.ts';
import type { ChargeChange, LockedPayment } from './charge-outcome.ts';
import type { PaymentContext } from './context.ts';
import { writeExpiry } from './expire-payments.ts';
import { isOpen, statusAt } from './intent.ts';
import type { Intent } from './intent.ts';
import { listChargesOfIntent } from './queries/charges.ts';

/** How money pays a charge. */
export interface PaidWith {
  /** When it came. */
  paidAt: Date;
  /** Books it, on the charge as it stands once it is paid: spendable at once, or waiting for its settlement. */
  bookMoney: (shared: SharedCharge) => Promise<Booked>;
  change: ChargeChange;
}

/**
 * A charge is paid, by what the network told or by what a person decided: its money is booked, the charge and its intent
 * say so, and whatever follows from it is given to the workers. An intent that was paid before stays as it was.
 */
export async function completeCharge(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  { paidAt, bookMoney, change }: PaidWith,
): Promise<LockedPayment> {
  const { charge } = locked;
  const intent = await writeExpiry(tx, context, locked.merchant, locked.intent);
  const wasPaid = intent.status === 'successful';
  const isLate = !wasPaid && !isOpen(statusAt(intent, context.clock.now()));
  const waiting = waitingTerms(context, locked.merchant, paidAt);
  const booked = await bookMoney({ charge: { ...charge, ...waiting }, shares: intent.shares });
  const paid = wasPaid
    ? intent
    : await changeIntent(tx, context, intent, { status: 'successful', late: intent.late || isLate, review: null });
  const completed = await changeCharge(
    tx,
    context,
    { ...locked, intent: paid },
    {
      ...change,
      ...booked,
      status: 'completed',
      progress: 'final',
      late: charge.status !== 'pending' || isLate,
      failureCode: null,
      failureReason: null,
      paidAt,
      ...waiting,
    },
    'charge.succeeded',
  );
  enqueueFollowUps(tx, context, paid, completed);
  await cancelOtherAttempts(tx, context, locked);
  return { ...locked, intent: paid, charge: completed };
}

/** Until when money of a charge waits, all of it or the part that is kept in reserve. */
type WaitingTerms = Pick<Charge, 'settlesAt' | 'settledAt' | 'reservePercentHundredths'>;

/**
 * A charge that was paid before keeps more money, which came at `cameAt`: that waits as if it had paid the charge. What of
 * the first payment waits still waits with it.
 */
export async function addToCharge(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  { cameAt, bookMoney, change }: Omit<PaidWith, 'paidAt'> & { cameAt: Date },
): Promise<void> {
  const { merchant, charge, intent } = locked;
  const terms = waitingTerms(context, merchant, cameAt);
  const now = context.clock.now();
  const isLater = terms.settlesAt !== null && terms.settlesAt > now && terms.settlesAt > (charge.settlesAt ?? now);
  // What of the first payment waits keeps its reserve.
  const keptHundredths = isSettled(charge) ? 0n : charge.reservePercentHundredths;
  const reservePercentHundredths =
    terms.reservePercentHundredths > keptHundredths ? terms.reservePercentHundredths : keptHundredths;
  const waiting = isLater ? { ...terms, reservePercentHundredths } : {};
  const booked = await bookMoney({ charge: { ...charge, ...waiting }, shares: intent.shares });
  const added = await changeCharge(tx, context, locked, { ...change, ...booked, ...waiting }, null);
  if (isLater) enqueueSettlement(tx, context, added, cameAt);
}

function waitingTerms({ settings }: PaymentContext, merchant: Merchant, paidAt: Date): WaitingTerms {
  const reserve = reserveAt(merchant, paidAt);
  const waitsMs = Math.max(settings.settlementDelayMs, reserve?.forMs ?? 0);
  const isLonger = reserve !== null && reserve.forMs > settings.settlementDelayMs;
  return {
    settlesAt: waitsMs === 0 ? null : addMs(paidAt, waitsMs),
    settledAt: null,
    // A reserve that ends no later than the delay is none.
    reservePercentHundredths: isLonger ? reserve.percentHundredths : 0n,
  };
}

/** Its settlement, when its time comes, and the message to whoever stands at the counter. */
function enqueueFollowUps(tx: Transaction, context: PaymentContext, { terminalId }: Intent, charge: Charge): void {
  const { merchantId, id: subjectId, paidAt } = charge;
  if (paidAt !== null) enqueueSettlement(tx, context, charge, paidAt);
  if (terminalId !== null)
    enqueue(tx, context, { merchantId, queue: 'notifications', kind: 'notify_charge', subjectId });
}

function enqueueSettlement(
  tx: Transaction,
  context: PaymentContext,
  { merchantId, id: subjectId, settlesAt, reservePercentHundredths }: Charge,
  cameAt: Date,
): void {
  if (settlesAt === null) return;
  // What is not in reserve waits for the delay only.
  const { settlementDelayMs } = context.settings;
  const isReserved = reservePercentHundredths > 0n && settlementDelayMs > 0;
  const dueAt = isReserved ? addMs(cameAt, settlementDelayMs) : settlesAt;
  enqueue(tx, context, { merchantId, queue: 'settlement', kind: 'settle_charge', subjectId, dueAt });
}

/** An attempt that is still open after another one paid must not collect a second time. */
async function cancelOtherAttempts(
  tx: Transaction,
  context: PaymentContext,
  { merchant, charge: paid }: LockedPayment,
): Promise<void> {
  if (paid.attempt === 1n && paid.status === 'pending') return;
  for (const other of await listChargesOfIntent(tx, paid.merchantId, paid.intentId)) {
    if (other.id === paid.id || other.status !== 'pending') continue;
    enqueue(tx, context, {
      merchantId: paid.merchantId,
      queue: networkQueue({ network: other.network, testMode: merchant.testMode }, 'look-ups'),
      kind: 'cancel_charge',
      subjectId: other.id,
    });
  }
}
