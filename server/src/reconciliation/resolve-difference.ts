import type { Case } from '../cases/case.ts';
import { throwIfRefused, type CaseResolver } from '../cases/resolution.ts';
import { assert } from '../kit/assert.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import { findMerchantById } from '../merchants/manage-keys.ts';
import type { Movement } from '../ledger/posting.ts';
import { bookDifference } from './book-difference.ts';
import { bookReversalOf, bookSuccessOf } from './book-record.ts';
import type { DifferenceClass } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import { caseKindOf, storeEnd } from './store-difference.ts';
import type { Difference } from './difference.ts';
import { findCandidates } from './candidates.ts';
import { findDifference, lockDifference } from './queries/differences.ts';
import type { Candidate } from './queries/books.ts';
import { findLines, updateLineSubjects } from './queries/lines.ts';
import type { StatementLine } from './statement-line.ts';

/** A difference that is being decided, with the line that shows it. */
interface Decision {
  difference: Difference;
  line: StatementLine | null;
}

type CarryOutDifference = (tx: Transaction, context: ReconciliationContext, decision: Decision) => Promise<void>;

/** One way to end a difference. */
interface DifferenceRule {
  class: DifferenceClass;
  resolution: string;
  effect: string;
  /** Why it is not possible now; null when it is. */
  refusal?: (decision: Decision, db: Queryable) => string | null | Promise<string | null>;
  /** Books it; nothing where the amounts stay as they are. */
  carryOut?: CarryOutDifference;
}

const nothingIsBooked =
  'Nothing is booked. The difference stays in the proof of the float until the statement or the ledger changes.';

const hasLine = ({ line }: Decision): string | null => (line === null ? 'No line of the statement shows it.' : null);

const acknowledge = (differenceClass: DifferenceClass): DifferenceRule => ({
  ...{ class: differenceClass, resolution: 'acknowledge', effect: nothingIsBooked },
});

/** Books a line as if the network had reported it, by the path of every success. */
const bookSuccess: Required<Pick<DifferenceRule, 'refusal' | 'carryOut'>> = {
  refusal: hasLine,
  carryOut: async (tx, context, { difference, line }) => {
    assert(line, 'checked before');
    await bookSuccessOf(tx, context, difference, line);
  },
};

/** What the ledger has less of or more of than the statement is the operator's cost. */
const adjust = (flow: 'statement_amount' | 'statement_fee'): CarryOutDifference => {
  return (tx, context, { difference }) => {
    const { oursMinor, theirsMinor, subjectType, railAccount } = difference;
    const float = `float:${railAccount}` as const;
    // A larger payment received makes the float larger; a larger fee or payout makes it smaller.
    const makesLarger = flow === 'statement_amount' && subjectType === 'charge';
    const changeMinor = (theirsMinor - oursMinor) * (makesLarger ? 1n : -1n);
    const movement: Movement =
      changeMinor > 0n
        ? { debit: float, credit: 'network_costs', amountMinor: changeMinor }
        : { debit: 'network_costs', credit: float, amountMinor: -changeMinor };
    return bookDifference(tx, context, difference, { flow, movements: [movement] });
  };
};

const reverse: CarryOutDifference = (tx, context, { difference }) => bookReversalOf(tx, context, difference);

const isUnbooked = ({ difference }: Decision): string | null =>
  difference.oursMinor === 0n ? null : 'The ledger has something of it: adjust it instead.';
const isBooked = ({ difference }: Decision): string | null =>
  difference.oursMinor === 0n ? 'The ledger has nothing of it yet: book it instead.' : null;
const isOfPayment = ({ difference }: Decision): string | null =>
  difference.oursMinor > 0n ? null : 'It is about what went back, which cannot be taken back.';
const isIncoming = ({ difference }: Decision): string | null => {
  if (difference.theirsMinor < 0n) return 'The money went out.';
  return difference.oursMinor === difference.theirsMinor ? null : 'It is not in unmatched yet: run the day again.';
};
const isOutgoing = ({ difference }: Decision): string | null =>
  difference.theirsMinor < 0n ? null : 'The money came in.';

/** Money in `unmatched` goes to another account of the operator's books; money that left is taken from one. */
const fromUnmatched = (credit: 'capital' | 'bank'): CarryOutDifference => {
  return (tx, context, { difference }) =>
    bookDifference(tx, context, difference, {
      flow: 'unmatched_assigned',
      movements: [{ debit: 'unmatched', credit, amountMinor: difference.theirsMinor }],
    });
};
const paidFrom = (debit: 'network_costs' | 'bank' | 'unmatched'): CarryOutDifference => {
  return (tx, context, { difference }) =>
    bookDifference(tx, context, difference, {
      flow: debit === 'unmatched' ? 'unmatched' : 'unmatched_assigned',
      movements: [{ debit, credit: `float:${difference.railAccount}`, amountMinor: -difference.theirsMinor }],
    });
};

const rules: readonly DifferenceRule[] = [
  {
    ...{ class: 'missing_here', resolution: 'book', ...bookSuccess },
    effect: 'The line is booked as if the network had reported it: the record is paid, late where it had ended.',
  },
  acknowledge('missing_here'),
  {
    ...{ class: 'missing_there', resolution: 'reverse', refusal: isOfPayment, carryOut: reverse },
    effect: 'The network never had it: it is booked back as a reversal, from the merchant or to the balance that paid.',
  },
  acknowledge('missing_there'),
  {
    ...{ class: 'amount', resolution: 'book', carryOut: bookSuccess.carryOut },
    effect: 'The line is booked as if the network had reported another amount: to suspense, with a case of its own.',
    refusal: isUnbooked,
  },
  {
    ...{ class: 'amount', resolution: 'adjust', refusal: isBooked, carryOut: adjust('statement_amount') },
    effect:
      'The float follows the statement, against network_costs. The record and the merchant’s balance stay as they are.',
  },
  acknowledge('amount'),
  {
    ...{ class: 'fee', resolution: 'correct', carryOut: adjust('statement_fee') },
    effect: 'The float follows the statement, against network_costs, by what the fees differ.',
  },
  acknowledge('fee'),
  {
    ...{ class: 'status', resolution: 'reverse', refusal: isOfPayment, carryOut: reverse },
    effect:
      'The network did not do it: it is booked back as a reversal, from the merchant or to the balance that paid.',
  },
  acknowledge('status'),
  {
    ...{ class: 'duplicate', resolution: 'book', ...bookSuccess },
    effect:
      'The second transaction is booked as if the network had reported it: to suspense or network_costs, with a case of its own.',
    refusal: ({ line }) =>
      line === null || line.ordinal > 1n ? 'It is the same transaction: adjust or acknowledge it.' : null,
  },
  {
    ...{ class: 'duplicate', resolution: 'adjust', carryOut: adjust('statement_amount') },
    effect: 'The network did count it twice: the float follows the statement, against network_costs.',
  },
  acknowledge('duplicate'),
  {
    ...{ class: 'reversed', resolution: 'book', carryOut: reverse },
    effect: 'The reversal is booked as if the network had reported it: from the merchant or to the balance that paid.',
  },
  acknowledge('reversed'),
  {
    ...{ class: 'unknown', resolution: 'belongs', refusal: refuseCandidate, carryOut: assignCandidate },
    effect:
      'It is the one payment of this number and amount that waits: the money goes from unmatched back to the float, and the line is booked for that payment.',
  },
  {
    ...{ class: 'unknown', resolution: 'own_money', refusal: isIncoming, carryOut: fromUnmatched('capital') },
    effect: 'It is the operator’s own money: from unmatched to capital.',
  },
  {
    ...{ class: 'unknown', resolution: 'from_bank', refusal: isIncoming, carryOut: fromUnmatched('bank') },
    effect: 'You moved it there from your bank: from unmatched to bank.',
  },
  {
    ...{ class: 'unknown', resolution: 'keep', refusal: isIncoming },
    effect: 'Nobody claims it: it stays in unmatched.',
  },
  {
    ...{ class: 'unknown', resolution: 'cost', refusal: isOutgoing, carryOut: paidFrom('network_costs') },
    effect: 'The network charged it: network_costs against the float.',
  },
  {
    ...{ class: 'unknown', resolution: 'to_bank', refusal: isOutgoing, carryOut: paidFrom('bank') },
    effect: 'You moved it to your bank: bank against the float.',
  },
  {
    ...{ class: 'unknown', resolution: 'returned', refusal: isOutgoing, carryOut: paidFrom('unmatched') },
    effect: 'It returned money that had stood in unmatched: unmatched against the float.',
  },
  { ...acknowledge('unknown'), refusal: isOutgoing },
];

/** The resolutions of every difference between a statement and our books. */
export function createDifferenceResolvers(context: ReconciliationContext): CaseResolver[] {
  return rules.map((rule) => ({
    ...{ subjectType: 'difference', kind: caseKindOf(rule.class), resolution: rule.resolution, effect: rule.effect },
    needsMoney: false,
    refusal: async (found) => refusalOf(rule, await readDecision(context.db, found), context.db),
    prepare: async (found) => {
      const { difference: seen } = await readDecision(context.db, found);
      return async (tx) => {
        const difference = await lockDifference(tx, seen);
        assert(difference, 'a case has its difference');
        const decision = { difference, line: await readLine(tx, difference) };
        throwIfRefused(await refusalOf(rule, decision, tx));
        if (difference.state === 'resolved') return;
        await rule.carryOut?.(tx, context, decision);
        await storeEnd(tx, context, difference, rule.resolution);
      };
    },
  }));
}

function refusalOf(rule: DifferenceRule, decision: Decision, db: Queryable): Promise<string | null> | string | null {
  // A run closes no case of which a resolution was proposed.
  if (decision.difference.state === 'resolved') {
    return rule.resolution === 'acknowledge' ? null : 'It agrees by now: acknowledge the case.';
  }
  return rule.refusal?.(decision, db) ?? null;
}

async function readDecision(db: Queryable, found: Case): Promise<Decision> {
  const difference = await findDifference(db, found.subjectId);
  assert(difference, 'a case has its difference');
  return { difference, line: await readLine(db, difference) };
}

async function readLine(db: Queryable, { railAccount, lineId }: Difference): Promise<StatementLine | null> {
  return lineId === null ? null : ((await findLines(db, railAccount, [lineId]))[0] ?? null);
}

/** The only payment that a line without a reference can mean. */
async function candidateOf(db: Queryable, { difference, line }: Decision): Promise<Candidate | null> {
  const books = await findMerchantById(db, difference.merchantId);
  if (line === null || !books) return null;
  const candidates = await findCandidates(db, books.testMode, line);
  return candidates.length === 1 ? (candidates[0] ?? null) : null;
}

async function refuseCandidate(decision: Decision, db: Queryable): Promise<string | null> {
  const candidate = await candidateOf(db, decision);
  return candidate === null ? 'Not exactly one payment of this number and amount waits.' : null;
}

/**
 * Two merchants are in this transaction, the operator's own books and the payment's: money must not be in neither, and two
 * operators do it rarely.
 */
async function assignCandidate(tx: Transaction, context: ReconciliationContext, decision: Decision): Promise<void> {
  const { difference, line } = decision;
  const candidate = await candidateOf(tx, decision);
  assert(candidate && line, 'checked before');
  const { merchantId, type, id } = candidate;
  const { railAccount, oursMinor } = difference;
  await updateLineSubjects(tx, railAccount, [{ lineId: line.id, subject: { merchantId, type, id } }]);
  const subject = { class: difference.class, railAccount, merchantId, subjectType: type, subjectId: id };
  await bookSuccessOf(tx, context, subject, line);
  if (oursMinor === 0n) return;
  await bookDifference(tx, context, difference, {
    flow: 'unmatched',
    movements: [{ debit: 'unmatched', credit: `float:${railAccount}`, amountMinor: oursMinor }],
  });
}
