import type { Case } from '../cases/case.ts';
import { listCasesOfSubject } from '../cases/list-cases.ts';
import { throwIfRefused, type CaseResolver, type ReportedMoney } from '../cases/resolution.ts';
import { AppError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { claimFor, settleSuccess, statementHasOwnIds, type ClaimedPayout } from './apply-success.ts';
import { reverse, reverseLateSuccess, reversePart } from './apply-reversal.ts';
import {
  bookMismatchAccepted,
  bookMismatchReturned,
  bookPaidTwiceRecovered,
  bookReleased,
  bookUnallocatedShare,
} from './booking.ts';
import { readReversible } from './book-reversal.ts';
import type { TransferContext } from './context.ts';
import { findTransferById } from './queries.ts';
import { connectorOf } from './rail.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, lockTransferOf } from './transfer-change.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/** One resolution of one kind of case about a transfer. */
interface TransferCaseRule extends Pick<CaseResolver, 'kind' | 'resolution' | 'effect'> {
  /** The timeline's entry, which the merchant reads. */
  note: string;
  /** The money that the proposal has to name. */
  needsMoney?: 'paid' | 'reversed';
  /** Why the transfer cannot be resolved so; null where it can. Absent is always possible. `cases` are all about it. */
  refusal?(transfer: Transfer, cases: readonly Case[]): string | null;
  /** Absent books nothing. */
  carryOut?(tx: Transaction, context: TransferContext, locked: LockedTransfer, step: Step): Promise<void>;
}

/** The case and the money that its proposal names. */
interface Step {
  found: Case;
  reported: ReportedMoney | null;
  railAccount: string;
  payout: ClaimedPayout | null;
}

const mustBeOpen = ({ status, review }: Transfer): string | null =>
  status === 'pending' && review !== 'amount_mismatch'
    ? null
    : `The transfer is ${status} by now: nothing is left to decide.`;

const mustBeUnderReview =
  (review: Transfer['review']) =>
  (transfer: Transfer): string | null =>
    transfer.review === review ? null : 'This case was decided meanwhile: look at the transfer again.';

/** The beneficiary has nothing to keep of what the network has taken back. */
const mustNotBeReversed = (transfer: Transfer, cases: readonly Case[]): string | null => {
  const { networkTransactionId } = transfer;
  const isReversed = cases.some(
    ({ kind, transactionId }) => kind === 'network_reversal' && transactionId === networkTransactionId,
  );
  return isReversed
    ? 'The network has reversed what it paid: resolve this case as return.'
    : mustBeUnderReview('amount_mismatch')(transfer);
};

const mustBeCompleted = ({ status }: Transfer): string | null =>
  status === 'completed' ? null : `The transfer is ${status} by now: look at it again.`;

const mustBePaid = ({ status, review }: Transfer): string | null => {
  if (review === 'amount_mismatch')
    return 'The network had paid another amount than requested: resolve that case first.';
  if (status === 'completed' || review === 'late_success') return null;
  return `The transfer is ${status}: nothing of it can be reversed.`;
};

const mustBeDecided =
  (needsDecision: (transfer: Transfer) => boolean) =>
  (transfer: Transfer): string | null =>
    needsDecision(transfer) ? 'The case still needs a decision: propose another resolution.' : null;

const isOpen = (transfer: Transfer): boolean => mustBeOpen(transfer) === null;

const rules: readonly TransferCaseRule[] = [
  ...(['outcome_unknown', 'contradictory_outcome'] as const).flatMap((kind): TransferCaseRule[] => [
    {
      kind,
      resolution: 'paid',
      effect: 'The held money goes to the network’s float and the fee to fees; the transfer is completed.',
      note: 'The network has confirmed that it paid.',
      needsMoney: 'paid',
      refusal: mustBeOpen,
      async carryOut(tx, context, locked, { payout }) {
        assert(payout, 'the proposal names the money');
        await settleSuccess(tx, context, locked, payout);
      },
    },
    {
      kind,
      resolution: 'not_paid',
      effect: 'Amount and fee return to the accounts that they were held from; the transfer has failed.',
      note: 'The network has confirmed that it did not pay.',
      refusal: mustBeOpen,
      async carryOut(tx, context, locked) {
        await bookReleased(tx, context, locked);
        await fail(tx, context, locked);
      },
    },
    {
      kind,
      resolution: 'acknowledge',
      effect: 'Nothing is booked: the network has reported the outcome meanwhile, or its last report was wrong.',
      note: 'An operator has reviewed what the network reported.',
      refusal: mustBeDecided(isOpen),
    },
  ]),
  {
    kind: 'late_success',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: the reversal was booked when the network reported it.',
    note: 'An operator has reviewed the late payment.',
    refusal: mustBeDecided(({ review }) => review === 'late_success'),
  },
  {
    kind: 'share_without_owner',
    resolution: 'to_merchant',
    effect: 'The money of the deleted sub-account goes from suspense to the merchant’s balance.',
    note: 'The money of a deleted sub-account is the merchant’s.',
    carryOut: (tx, context, { transfer }, { found }) => bookUnallocatedShare(tx, context, transfer, found.amountMinor),
  },
  {
    kind: 'amount_mismatch',
    resolution: 'accept',
    effect:
      'The beneficiary keeps what was paid; what was not paid returns to the balance and counts as reversed, the fee goes to fees. Of ' +
      'a refund, each party gets its part of what was not paid, and it can be refunded again.',
    note: 'The other amount was accepted; what was not paid was returned to the balance.',
    refusal: mustNotBeReversed,
    async carryOut(tx, context, locked, { found }) {
      await bookMismatchAccepted(tx, context, locked, found.amountMinor);
      const change = { status: 'completed', review: null, completedAt: context.clock.now() } as const;
      await changeTransfer(tx, context, locked, { ...change, ...unpaidPart(locked.transfer, found) });
    },
  },
  {
    kind: 'amount_mismatch',
    resolution: 'return',
    effect: 'The network has reversed what it paid: amount and fee return to the balance; the transfer has failed.',
    note: 'The network reversed the other amount; all of the money was returned to the balance.',
    refusal: mustBeUnderReview('amount_mismatch'),
    async carryOut(tx, context, locked, { found, railAccount }) {
      await bookMismatchReturned(tx, context, locked, { railAccount, paidMinor: found.amountMinor });
      await fail(tx, context, locked);
    },
  },
  {
    kind: 'late_success',
    resolution: 'accept',
    effect:
      'Nothing is booked: the balance was charged when the payment was reported. The transfer is completed. What was not paid ' +
      'counts as reversed.',
    note: 'The network did pay: the transfer is completed.',
    refusal: mustBeUnderReview('late_success'),
    async carryOut(tx, context, locked, { found }) {
      const outcome = { status: 'completed', progress: 'final', failureCode: null, failureReason: null } as const;
      const change = { ...outcome, review: null, completedAt: context.clock.now() };
      await changeTransfer(tx, context, locked, { ...change, ...unpaidPart(locked.transfer, found) });
    },
  },
  {
    kind: 'late_success',
    resolution: 'recovered',
    effect: 'The network returned the money: it ends what the merchant owes for it, the rest returns to the balance.',
    note: 'The network returned the late payment.',
    refusal: mustBeUnderReview('late_success'),
    carryOut: reverseLateSuccess,
  },
  {
    kind: 'second_success',
    resolution: 'recovered',
    effect: 'The network returned the second payment: it makes up for the loss in network_costs.',
    note: 'The network returned the second payment.',
    async carryOut(tx, context, { transfer }, { found, railAccount }) {
      await bookPaidTwiceRecovered(tx, context, transfer, { railAccount, amountMinor: found.amountMinor });
    },
  },
  {
    kind: 'second_success',
    resolution: 'write_off',
    effect: 'Nothing is booked: the second payment stays the operator’s loss in network_costs.',
    note: 'The network paid a second time, which the merchant is not charged for.',
  },
  {
    kind: 'contradictory_outcome',
    resolution: 'reversed',
    effect:
      'The network returned the money: amount and fee return to the accounts that they came from; the transfer is reversed.',
    note: 'The network reversed the transfer.',
    refusal: mustBeCompleted,
    carryOut: reverse,
  },
  {
    kind: 'receipt_reused',
    resolution: 'acknowledge',
    effect: 'Nothing is booked. Look-ups of a pending transfer go on.',
    note: 'The network’s transaction belongs to something else.',
    async carryOut(tx, context, locked) {
      if (locked.transfer.review === 'receipt_reused') await changeTransfer(tx, context, locked, { review: null });
    },
  },
  {
    kind: 'partial_reversal',
    resolution: 'reversed',
    effect:
      'We have this amount back: amount and fee return in proportion to the accounts that they came from. The rest stays paid.',
    note: 'The network reversed a part of the transfer.',
    needsMoney: 'reversed',
    refusal: mustBePaid,
    async carryOut(tx, context, locked, step) {
      await reversePart(tx, context, locked, await readReversedPart(tx, locked.transfer, step));
    },
  },
  {
    kind: 'partial_reversal',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: the network reversed nothing, or all of it was booked by another case.',
    note: 'An operator has reviewed the reported part.',
  },
  {
    kind: 'network_reversal',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: the reversal was booked when the network reported it.',
    note: 'An operator has reviewed the reversal.',
  },
];

/**
 * What the network did not pay counts as reversed: the beneficiary does not have it. Of a refund, it can be refunded again. The case
 * has what was paid.
 */
function unpaidPart(
  { amountMinor, amountReversedMinor }: Transfer,
  { amountMinor: paidMinor }: Case,
): Partial<Pick<Transfer, 'amountReversedMinor'>> {
  if (paidMinor >= amountMinor) return {};
  return { amountReversedMinor: amountReversedMinor + amountMinor - paidMinor };
}

/** The resolutions of all cases about transfers. */
export function createTransferResolvers(context: TransferContext): CaseResolver[] {
  return rules.map((rule) => ({
    subjectType: 'transfer',
    kind: rule.kind,
    resolution: rule.resolution,
    effect: rule.effect,
    needsMoney: rule.needsMoney !== undefined,
    refusal: async (found) => refusalOf(context.db, rule, await readTransfer(context.db, found)),
    prepare: async (found, reported) => {
      const merchant = await context.merchants.byId(found.merchantId);
      assert(merchant, 'a case has its merchant');
      const seen = await readTransfer(context.db, found);
      throwIfRefused(await refusalOf(context.db, rule, seen));
      const { railAccount } = (await connectorOf(context, seen)).capabilities;
      return async (tx) => {
        const transfer = await lockTransferOf(tx, seen);
        // What the network has reported meanwhile is stored by now, or waits for this lock.
        throwIfRefused(await refusalOf(tx, rule, transfer));
        const isPaid = reported !== null && rule.needsMoney === 'paid';
        const payout = isPaid ? await claimReported(tx, context, transfer, { railAccount, reported }) : null;
        const step = { found, reported, railAccount, payout };
        await rule.carryOut?.(tx, context, { merchant, transfer }, step);
        noteTransfer(tx, context, transfer, 'case_resolved', rule.note);
      };
    },
  }));
}

async function refusalOf(db: Queryable, { refusal }: TransferCaseRule, transfer: Transfer): Promise<string | null> {
  return refusal?.(transfer, await listCasesOfSubject(db, transfer.merchantId, transfer.id)) ?? null;
}

/** The reversed amount that the proposal names, in bututs. Throws AppError `state_conflict` where it cannot be. */
async function readReversedPart(tx: Transaction, transfer: Transfer, { found, reported }: Step): Promise<bigint> {
  const { transactionId, currency } = found;
  if (reported?.transactionId !== transactionId) {
    const message = `The case is about the network's transaction ${transactionId}: name that one.`;
    throw new AppError('state_conflict', message);
  }
  assert(transactionId === transfer.networkTransactionId, 'a part is one of the transaction that paid');
  if (currency !== transfer.currency) {
    const message = `The network names ${currency} and the transfer is in ${transfer.currency}: ask the network again.`;
    throw new AppError('state_conflict', message);
  }
  const leftMinor = await readReversible(tx, transfer);
  if (reported.amountMinor <= leftMinor) return reported.amountMinor;
  const left = moneyText({ currency, amountMinor: leftMinor });
  throw new AppError('state_conflict', `The network can reverse at most ${left} of this transfer. Name that or less.`);
}

/** The payout that the proposal names. Throws AppError `state_conflict` where its transaction has settled something else. */
async function claimReported(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { railAccount, reported }: { railAccount: string; reported: ReportedMoney },
): Promise<ClaimedPayout> {
  const { transactionId, amountMinor } = reported;
  const { currency } = transfer;
  const networkReference = transfer.networkReference ?? transactionId;
  const providerTransaction = { transactionId, networkReference, amountMinor, currency, networkFeeMinor: 0n };
  const payout = await claimFor(tx, context, transfer, { railAccount, providerTransaction });
  if (!payout.claimed) {
    throw new AppError('state_conflict', 'This transaction of the network has settled something else: ask it again.');
  }
  // A person reads the statement. Where that has ids of its own, the API may still report the same payout under another one.
  const isOfStatement = transactionId !== transfer.networkReference && statementHasOwnIds(context, transfer, payout);
  return { ...payout, isOfStatement };
}

async function fail(tx: Transaction, context: TransferContext, locked: LockedTransfer): Promise<void> {
  const failureReason = 'The network has confirmed that it did not pay.';
  const change = { status: 'failed', progress: 'final', review: null, waitingFor: null } as const;
  const failure = { failureCode: 'refused_by_network', failureReason } as const;
  await changeTransfer(tx, context, locked, { ...change, ...failure });
}

async function readTransfer(db: Queryable, found: Case): Promise<Transfer> {
  const transfer = await findTransferById(db, found.merchantId, found.subjectId);
  assert(transfer, 'a case has its transfer');
  return transfer;
}
