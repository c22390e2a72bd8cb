import type { Case } from '../cases/case.ts';
import { throwIfRefused } from '../cases/resolution.ts';
import type { CaseResolver, ReportedMoney } from '../cases/resolution.ts';
import { AppError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { claimPayout, settleSuccess } from './apply-success.ts';
import type { ClaimedPayout } from './apply-success.ts';
import { givePartBack, reverse, undoLateSuccess } from './apply-reversal.ts';
import {
  bookMismatchAccepted,
  bookMismatchReturned,
  bookPaidTwiceRecovered,
  bookReleased,
  bookUnallocatedShare,
} from './booking.ts';
import { paidOut } from './book-given-back.ts';
import { connectorOf } from './connector-of.ts';
import type { TransferContext } from './context.ts';
import { uncountTransfer } from './limits.ts';
import { noteTransfer } from './notes.ts';
import { findTransferById } from './queries.ts';
import { changeTransfer, lockTransferOf } from './transfer-change.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

/** One way to resolve one kind of case about a transfer. */
interface TransferCaseRule extends Pick<CaseResolver, 'kind' | 'resolution' | 'effect'> {
  /** What the timeline says of it, which the merchant reads. */
  note: string;
  /** What the money is that the proposal has to name. */
  needsMoney?: 'paid' | 'given_back';
  /** What the transfer must be for it, in the words of a refusal; null when it is so. */
  refusal(transfer: Transfer): string | null;
  carryOut(tx: Transaction, context: TransferContext, locked: LockedTransfer, step: Step): Promise<void>;
}

/** The case, and what the network told of its money; a payment is claimed before the transaction began. */
interface Step {
  found: Case;
  reported: ReportedMoney | null;
  railAccount: string;
  payout: ClaimedPayout | null;
}

const mustWait = ({ status, review }: Transfer): string | null =>
  status === 'pending' && review !== 'amount_mismatch'
    ? null
    : `The transfer is ${status} by now: look at it again, there is nothing to decide any more.`;

const mustBeUnderReview =
  (review: Transfer['review']) =>
  (transfer: Transfer): string | null =>
    transfer.review === review ? null : 'This has been decided already: look at the transfer again.';

const mustBeCompleted = ({ status }: Transfer): string | null =>
  status === 'completed' ? null : `The transfer is ${status} by now: look at it again.`;

const mustBePaid = ({ status, review }: Transfer): string | null => {
  if (review === 'amount_mismatch') return 'The network had paid another amount than ordered: resolve that case first.';
  if (status === 'completed' || review === 'late_success') return null;
  return `The transfer is ${status}: nothing of it can be given back.`;
};

const mustBeDecided =
  (isOpen: (transfer: Transfer) => boolean) =>
  (transfer: Transfer): string | null =>
    isOpen(transfer) ? 'There is still something to decide here: propose what applies.' : null;

const waits = (transfer: Transfer): boolean => mustWait(transfer) === null;

const always = (): null => null;

const nothing = (): Promise<void> => Promise.resolve();

const rules: readonly TransferCaseRule[] = [
  ...(['outcome_unknown', 'contradictory_outcome'] as const).flatMap((kind): TransferCaseRule[] => [
    {
      kind,
      resolution: 'paid',
      effect: 'The held money goes to the network’s float and the fee to fees; the transfer is completed.',
      note: 'The network has confirmed that it paid.',
      needsMoney: 'paid',
      refusal: mustWait,
      async carryOut(tx, context, locked, { payout }) {
        assert(payout, 'the proposal names the money');
        await settleSuccess(tx, context, locked, payout);
      },
    },
    {
      kind,
      resolution: 'not_paid',
      effect: 'Amount and fee go back where they came from; the transfer has failed.',
      note: 'The network has confirmed that it did not pay.',
      refusal: mustWait,
      async carryOut(tx, context, locked) {
        await bookReleased(tx, context, locked);
        uncountTransfer(tx, locked.transfer);
        await fail(tx, context, locked);
      },
    },
    {
      kind,
      resolution: 'acknowledge',
      effect: 'Nothing is booked: the network has answered meanwhile, or what it said last was wrong.',
      note: 'What the network said was looked at.',
      refusal: mustBeDecided(waits),
      carryOut: nothing,
    },
  ]),
  {
    kind: 'late_success',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: it was when the network gave the money back.',
    note: 'The late payment was looked at.',
    refusal: mustBeDecided(({ review }) => review === 'late_success'),
    carryOut: nothing,
  },
  {
    kind: 'share_without_owner',
    resolution: 'to_merchant',
    effect: 'The money of the deleted sub-account goes from suspense to the merchant’s balance.',
    note: 'The money of a deleted sub-account is the merchant’s.',
    refusal: always,
    carryOut: (tx, context, { transfer }, { found }) => bookUnallocatedShare(tx, context, transfer, found.amountMinor),
  },
  {
    kind: 'amount_mismatch',
    resolution: 'accept',
    effect: 'The beneficiary keeps what was paid; what was not paid is free again, the fee goes to fees.',
    note: 'The other amount was accepted; what was not paid is back.',
    refusal: mustBeUnderReview('amount_mismatch'),
    async carryOut(tx, context, locked, { found }) {
      await bookMismatchAccepted(tx, context, locked.transfer, found.amountMinor);
      const change = { status: 'completed', review: null, completedAt: context.clock.now() } as const;
      await changeTransfer(tx, context, locked, change);
    },
  },
  {
    kind: 'amount_mismatch',
    resolution: 'return',
    effect: 'The network has taken back what it paid: amount and fee are free again; the transfer has failed.',
    note: 'The network took the other amount back; all of the money is free again.',
    refusal: mustBeUnderReview('amount_mismatch'),
    async carryOut(tx, context, locked, { found, railAccount }) {
      await bookMismatchReturned(tx, context, locked, { railAccount, paidMinor: found.amountMinor });
      uncountTransfer(tx, locked.transfer);
      await fail(tx, context, locked);
    },
  },
  {
    kind: 'late_success',
    resolution: 'accept',
    effect: 'Nothing more is booked: it was taken from the balance already. The transfer counts as completed.',
    note: 'The network did pay: the transfer counts as completed.',
    refusal: mustBeUnderReview('late_success'),
    async carryOut(tx, context, locked) {
      const outcome = { status: 'completed', progress: 'final', failureCode: null, failureReason: null } as const;
      const change = { ...outcome, review: null, completedAt: context.clock.now() };
      await changeTransfer(tx, context, locked, change);
    },
  },
  {
    kind: 'late_success',
    resolution: 'recovered',
    effect: 'The network gave the money back: what the merchant owes for it is repaid, the rest is whose it was.',
    note: 'The network gave the money back that it had paid too late.',
    refusal: mustBeUnderReview('late_success'),
    carryOut: undoLateSuccess,
  },
  {
    kind: 'second_success',
    resolution: 'recovered',
    effect: 'The network gave the second payment back: the loss in network_costs is made good.',
    note: 'The network gave back what it had paid twice.',
    refusal: always,
    async carryOut(tx, context, { transfer }, { found, railAccount }) {
      await bookPaidTwiceRecovered(tx, context, transfer, { railAccount, amountMinor: found.amountMinor });
    },
  },
  {
    kind: 'second_success',
    resolution: 'write_off',
    effect: 'Nothing is booked: the second payment stays the operator’s loss in network_costs.',
    note: 'A second payment of the network is not the merchant’s.',
    refusal: always,
    carryOut: nothing,
  },
  {
    kind: 'contradictory_outcome',
    resolution: 'reversed',
    effect: 'The network gave the money back: amount and fee go to whoever gave them; the transfer is reversed.',
    note: 'The network gave the money back.',
    refusal: mustBeCompleted,
    carryOut: reverse,
  },
  {
    kind: 'receipt_reused',
    resolution: 'acknowledge',
    effect: 'Nothing is booked. A transfer that still waits is looked up further.',
    note: 'The network’s transaction belongs to something else.',
    refusal: always,
    async carryOut(tx, context, locked) {
      if (locked.transfer.review === 'receipt_reused') await changeTransfer(tx, context, locked, { review: null });
    },
  },
  {
    kind: 'partial_reversal',
    resolution: 'reversed',
    effect: 'We have this amount back: amount and fee go in proportion to whoever gave them. The rest stays paid.',
    note: 'The network gave a part of the money back.',
    needsMoney: 'given_back',
    refusal: mustBePaid,
    async carryOut(tx, context, locked, step) {
      await givePartBack(tx, context, locked, await partGivenBack(tx, context, locked.transfer, step));
    },
  },
  {
    kind: 'partial_reversal',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: the network gave nothing back, or all of it was booked by another case.',
    note: 'What the network said of a part was looked at.',
    refusal: always,
    carryOut: nothing,
  },
  {
    kind: 'network_reversal',
    resolution: 'acknowledge',
    effect: 'Nothing is booked: it was when the network told of it.',
    note: 'The reversal was looked at.',
    refusal: always,
    carryOut: nothing,
  },
];

/** Every way to resolve a case about a transfer. */
export function createTransferResolvers(context: TransferContext): CaseResolver[] {
  return rules.map((rule) => ({
    subjectType: 'transfer',
    kind: rule.kind,
    resolution: rule.resolution,
    effect: rule.effect,
    needsMoney: rule.needsMoney !== undefined,
    refusal: async (found) => rule.refusal(await readTransfer(context.db, found)),
    prepare: async (found, reported) => {
      const merchant = await context.merchants.byId(found.merchantId);
      assert(merchant, 'a case has its merchant');
      const seen = await readTransfer(context.db, found);
      throwIfRefused(rule.refusal(seen));
      const step = await stepOf(context, seen, { rule, found, reported });
      return async (tx) => {
        const transfer = await lockTransferOf(tx, seen);
        // What the network said meanwhile has been written by now, or waits for us.
        throwIfRefused(rule.refusal(transfer));
        await rule.carryOut(tx, context, { merchant, transfer }, step);
        noteTransfer(tx, context, transfer, 'case_resolved', rule.note);
      };
    },
  }));
}

/** What the proposal names, in bututs. Throws AppError `state_conflict` where that cannot be. */
async function partGivenBack(
  tx: Transaction,
  context: TransferContext,
  transfer: Transfer,
  { found, reported }: Step,
): Promise<bigint> {
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
  const leftMinor = await paidOut(tx, context, transfer);
  if (reported.amountMinor <= leftMinor) return reported.amountMinor;
  const left = moneyText({ currency, amountMinor: leftMinor });
  throw new AppError('state_conflict', `The network has only ${left} of this transfer out: it can give no more back.`);
}

async function stepOf(
  context: TransferContext,
  transfer: Transfer,
  { rule, found, reported }: { rule: TransferCaseRule; found: Case; reported: ReportedMoney | null },
): Promise<Step> {
  const { railAccount } = (await connectorOf(context, transfer)).capabilities;
  if (reported === null || rule.needsMoney !== 'paid') return { found, reported, railAccount, payout: null };
  const { transactionId, amountMinor } = reported;
  const networkReference = transfer.networkReference ?? transactionId;
  const providerTransaction = {
    transactionId,
    networkReference,
    amountMinor,
    currency: transfer.currency,
    networkFeeMinor: 0n,
  };
  const payout = await claimPayout(context, transfer, providerTransaction);
  if (!payout.claimed) {
    throw new AppError('state_conflict', 'This transaction of the network has settled something else: ask it again.');
  }
  return { found, reported, railAccount, payout };
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
