import { listResolutionSteps } from '../cases/list-cases.ts';
import { closeWith } from '../cases/resolve-case.ts';
import type { Case } from '../cases/case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { cancelWork } from '../events/outbox.ts';
import { AppError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { moneyText } from '../kit/money.ts';
import { deleteProviderTransaction, hasLineOfTransaction } from '../networks/provider-transactions.ts';
import { bookAccepted, bookLeftSuspense, bookUnallocatedShare } from './booking.ts';
import { reverseFromCharge } from './apply-reversal.ts';
import { completeCharge, enqueueSettlement, settlementTerms, type SettlementTerms } from './apply-success.ts';
import { changeCharge, type LockedPayment } from './change-payment.ts';
import { isPaid, isRequestedAmount, isSettled, receivedMinor, remainingMinor, type Charge } from './charge.ts';
import { endUnpaid, remainingReview, type ChargeCaseRule, type Situation } from './charge-case-rule.ts';
import { connectorOf } from './connector-of.ts';
import type { PaymentContext } from './context.ts';
import { isMoneyCase, isSameMoney } from './intent.ts';

// Cases of money that is in `suspense`, or that the network has reversed.

const acceptMismatch: ChargeCaseRule = {
  kind: 'amount_mismatch',
  resolution: 'accept',
  effect: 'Accepts the amount received: suspense to the fee and the merchant’s balance. It pays the payment.',
  note: 'The amount received was accepted.',
  refusal: refuseAcceptance,
  begin: (context) => Promise.resolve((tx, locked, { situation }) => accept(tx, context, locked, situation)),
};

const acceptSecond: ChargeCaseRule = {
  ...acceptMismatch,
  kind: 'second_success',
  effect: 'Accepts the second payment too: suspense to the fee and the merchant’s balance. Its attempt counts as paid.',
};

const returnMismatch: ChargeCaseRule = {
  kind: 'amount_mismatch',
  resolution: 'return',
  effect: 'You have paid it back at the network: suspense to the float. The attempt fails; the payer may try again.',
  note: 'The amount received was returned to the payer.',
  refusal: refuseMovedMoney,
  begin: async (context, { charge }) => {
    const { railAccount } = (await connectorOf(context, charge)).capabilities;
    return async (tx, locked, { situation }) => {
      const { found } = situation;
      await bookLeftSuspense(tx, context, locked.charge, { flow: 'returned', railAccount, money: found });
      await endUnpaid(tx, context, locked, { cases: situation.cases, closed: [found.id], failure: returned(found) });
    };
  },
};

const returnSecond: ChargeCaseRule = {
  ...returnMismatch,
  kind: 'second_success',
  effect: 'You have paid it back at the network: suspense to the float. The payment stays paid by the first one.',
};

const sameMoney: ChargeCaseRule = {
  kind: 'second_success',
  resolution: 'same_money',
  effect:
    'It is what two operators had booked under another transaction id: suspense to the float. The payment has this id from then on.',
  note: 'The network reported what was booked already, under its own transaction id.',
  refusal: refuseOtherMoney,
  begin: async (context, { charge }) => {
    const { railAccount } = (await connectorOf(context, charge)).capabilities;
    return async (tx, locked, { situation: { found, cases } }) => {
      const { networkReference, networkTransactionId } = locked.charge;
      await releaseTyped(tx, railAccount, locked.charge, cases);
      await bookLeftSuspense(tx, context, locked.charge, { flow: 'same_money', railAccount, money: found });
      await changeCharge(
        tx,
        context,
        locked,
        {
          networkTransactionId: found.reference,
          // A network that had given no reference had the typed id as one.
          networkReference: networkReference === networkTransactionId ? found.reference : networkReference,
          review: remainingReview(cases, [found.id]),
        },
        null,
      );
    };
  },
};

const acknowledgeReversal: ChargeCaseRule = {
  kind: 'network_reversal',
  resolution: 'acknowledge',
  effect: 'Money in suspense goes back to the float, and its own case is closed; otherwise nothing is booked.',
  note: null,
  refusal: () => null,
  begin: async (context, { charge }) => {
    const { railAccount, displayName } = (await connectorOf(context, charge)).capabilities;
    return async (tx, locked, { situation, confirmation }) => {
      const { found, cases } = situation;
      const money = cases.find((other) => isOpenMoney(other) && isSameMoney(other, found));
      if (!money) return;
      await bookLeftSuspense(tx, context, locked.charge, { flow: 'reversed', railAccount, money });
      await closeWith(tx, context, confirmation, money);
      const failure = { code: 'money_returned', reason: `${displayName} reversed the money.` } as const;
      await endUnpaid(tx, context, locked, { cases, closed: [found.id, money.id], failure });
    };
  },
};

const bookPart: ChargeCaseRule = {
  kind: 'partial_reversal',
  resolution: 'reversed',
  effect:
    'The network has reversed this amount: charged back to fee, shares and merchant in proportion; a shortfall is owed.',
  note: 'The network reversed a part of the payment.',
  needsMoney: true,
  refusal: refuseReversal,
  begin: async (context, { charge }, reported) => {
    const { railAccount } = (await connectorOf(context, charge)).capabilities;
    return async (tx, locked, { situation: { found } }) => {
      const reversedMinor = amountReversed(locked.charge, found, reported);
      await reverseFromCharge(tx, context, locked, { railAccount, reversedMinor, divided: 'in_proportion' });
    };
  },
};

const acknowledgePart: ChargeCaseRule = {
  kind: 'partial_reversal',
  resolution: 'acknowledge',
  effect: 'Nothing is booked: the network reversed nothing, or another case has booked all of it.',
  note: null,
  refusal: () => null,
  begin: () => Promise.resolve(() => Promise.resolve()),
};

const shareToMerchant: ChargeCaseRule = {
  kind: 'share_without_owner',
  resolution: 'to_merchant',
  effect: 'The share of the deleted sub-account goes from suspense to the merchant’s balance.',
  note: 'The share of a deleted sub-account went to the merchant.',
  refusal: () => null,
  begin: (context) =>
    Promise.resolve((tx, { charge }, { situation: { found, cases } }) => {
      // Until now this part of what two operators accepted was nobody's.
      const wasAccepted = cases.some(({ id, kind }) => isMoneyCase(kind) && found.reference.endsWith(` ${id}`));
      return bookUnallocatedShare(tx, context, charge, {
        flow: wasAccepted ? 'share_accepted' : 'share_kept',
        money: found,
      });
    }),
};

export const moneyRules: readonly ChargeCaseRule[] = [
  shareToMerchant,
  acceptMismatch,
  returnMismatch,
  acceptSecond,
  returnSecond,
  sameMoney,
  acknowledgeReversal,
  bookPart,
  acknowledgePart,
];

function isOpenMoney({ status, kind }: Case): boolean {
  return status === 'open' && isMoneyCase(kind);
}

function refuseMovedMoney({ found, cases }: Situation): string | null {
  const reversal = cases.find((other) => other.kind === 'network_reversal' && isSameMoney(other, found));
  if (!reversal) return null;
  return `The network has reversed this money: resolve case ${reversal.id}, which closes this one.`;
}

const otherMoney = 'No two operators had booked this amount by a transaction id of theirs: it is other money.';

/** What a person had typed may be another id of the same money; what the network reports has its own. */
function refuseOtherMoney(situation: Situation): string | null {
  const { found, charge, cases } = situation;
  const wasTyped = cases.some(({ kind, resolution }) => kind === 'outcome_unknown' && resolution === 'paid');
  const wasFound = cases.some(({ resolution }) => resolution === 'same_money');
  const isSame = charge.amountReceivedMinor === null && isRequestedAmount(charge, found);
  if (!wasTyped || wasFound || !isSame || !isPaid(charge)) {
    return otherMoney;
  }
  return refuseMovedMoney(situation);
}

/** What was mistyped may be another payment's transaction, which its own report then pays. */
async function releaseTyped(tx: Transaction, railAccount: string, charge: Charge, cases: readonly Case[]) {
  const { merchantId, id: subjectId, networkTransactionId: transactionId } = charge;
  const paid = cases.find(({ kind, resolution }) => kind === 'outcome_unknown' && resolution === 'paid');
  const steps = paid ? await listResolutionSteps(tx, merchantId, paid.id) : [];
  if (transactionId === null || !steps.some((step) => step.transactionId === transactionId)) {
    throw new AppError('state_conflict', otherMoney);
  }
  if (await hasLineOfTransaction(tx, railAccount, [transactionId])) {
    const message = `The statement has ${transactionId} too, which is other money: ask the network whose it is.`;
    throw new AppError('state_conflict', message);
  }
  await deleteProviderTransaction(tx, { railAccount, transactionId, kind: 'collection', merchantId, subjectId });
}

function refuseAcceptance(situation: Situation): string | null {
  const { found, charge } = situation;
  const moved = refuseMovedMoney(situation);
  if (moved !== null) return moved;
  if (found.currency !== charge.currency) {
    return `The amount received is in ${found.currency} and the payment in ${charge.currency}: it can only be returned.`;
  }
  if (charge.amountReversedMinor > 0n) {
    return 'A part of the attempt was reversed: nothing can be added to it, so this money can only be returned.';
  }
  if (charge.status !== 'reversed' && charge.status !== 'refunded') return null;
  return `The attempt is ${charge.status}: nothing can be added to it, so this money can only be returned.`;
}

function refuseReversal({ found, charge, cases }: Situation): string | null {
  const waiting = cases.find((other) => isOpenMoney(other) && other.transactionId === found.transactionId);
  if (waiting) return `The money of this transaction is in suspense: resolve case ${waiting.id} first.`;
  if (found.currency !== charge.currency) {
    return `The network reports ${found.currency} and the payment is in ${charge.currency}: ask the network again.`;
  }
  return isPaid(charge) ? null : `The attempt is ${charge.status}: it has nothing that can be reversed.`;
}

/** The amount of the proposal, in bututs. Throws AppError `state_conflict` where it cannot be. */
function amountReversed(charge: Charge, found: Case, reported: ReportedMoney | null): bigint {
  const { transactionId } = found;
  if (reported?.transactionId !== transactionId) {
    throw new AppError(
      'state_conflict',
      `The case is about the network's transaction ${transactionId}: name that one.`,
    );
  }
  const leftMinor = remainingMinor(charge);
  if (reported.amountMinor <= leftMinor) return reported.amountMinor;
  const left = moneyText({ currency: charge.currency, amountMinor: leftMinor });
  throw new AppError('state_conflict', `Only ${left} of this payment is left: the network cannot reverse more.`);
}

function returned(found: Case) {
  const money = moneyText(found);
  if (found.kind === 'second_success') {
    return { code: 'cancelled', reason: `The payment had already been paid; ${money} was returned.` } as const;
  }
  return {
    code: 'money_returned',
    reason: `${money} was received, which is not the amount requested. It was returned.`,
  } as const;
}

/** Pays an unpaid attempt with the money in `suspense`; a paid attempt keeps it in addition. */
async function accept(
  tx: Transaction,
  context: PaymentContext,
  locked: LockedPayment,
  { found, cases }: Situation,
): Promise<void> {
  const { charge, intent, merchant } = locked;
  const { shares } = intent;
  const isUnpaid = charge.paidAt === null;
  const before = isUnpaid ? 0n : receivedMinor(charge);
  const after = before + found.amountMinor;
  // It was paid when the network reported it; the person only decided whose it is.
  const receivedAt = found.createdAt;
  const ownTerms = settlementTerms(context, merchant, receivedAt);
  const terms = isUnpaid ? ownTerms : laterTerms(charge, ownTerms, context.clock.now());
  const money = { before, after, caseId: found.id };
  const booked = await bookAccepted(tx, context, { charge: { ...charge, ...terms }, shares }, money);
  const acceptance = {
    ...booked,
    amountReceivedMinor: after === charge.amountPaidMinor ? null : after,
    review: remainingReview(cases, [found.id]),
  };
  if (isUnpaid) {
    const payment = { ...acceptance, ...ownTerms, paidAt: receivedAt, networkTransactionId: found.reference };
    await completeCharge(tx, context, locked, payment);
  } else {
    const added = await changeCharge(tx, context, locked, { ...acceptance, ...terms }, null);
    if (terms === null) return;
    // What is due for the first payment would settle this money before its time.
    cancelWork(tx, { merchantId: charge.merchantId, kind: 'settle_charge', subjectId: charge.id });
    enqueueSettlement(tx, context, added, receivedAt);
  }
}

/**
 * The terms of a paid charge that gets more money, which settles as if it had paid the charge: the later time, and the higher
 * reserve while some of the first payment is pending. Null where the terms stay as they are.
 */
function laterTerms(charge: Charge, terms: SettlementTerms, now: Date): SettlementTerms | null {
  const { settlesAt, reservePercentHundredths } = terms;
  if (settlesAt === null || settlesAt <= now || settlesAt <= (charge.settlesAt ?? now)) return null;
  const currentPercentHundredths = isSettled(charge) ? 0n : charge.reservePercentHundredths;
  const isHigher = reservePercentHundredths > currentPercentHundredths;
  return { ...terms, reservePercentHundredths: isHigher ? reservePercentHundredths : currentPercentHundredths };
}
