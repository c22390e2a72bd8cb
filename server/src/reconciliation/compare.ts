import type { FloatMovement, OwnRecord } from './queries/books.ts';
import type { StatementLine } from './statement-line.ts';

/** How records, ledger and statement can differ. */
export const differenceClasses = [
  'missing_here',
  'missing_there',
  'amount',
  'fee',
  'status',
  'duplicate',
  'reversed',
  'unknown',
] as const;
export type DifferenceClass = (typeof differenceClasses)[number];

/** Everything that is known of one record on one account, of whatever day. */
export interface Compared {
  record: OwnRecord;
  movements: readonly FloatMovement[];
  lines: readonly StatementLine[];
  /** The transactions that this record has settled. */
  settledTransactions: ReadonlySet<string>;
}

/** Bututs, from the view of the record: what was paid, what the network kept or charged, and what went back. */
export interface Sides {
  paidMinor: bigint;
  feeMinor: bigint;
  backMinor: bigint;
}

/** One way in which they differ. */
export interface Finding {
  class: DifferenceClass;
  oursMinor: bigint;
  theirsMinor: bigint;
  /** Whether the record is only missing there, where it may still come. */
  mayBeInTransit: boolean;
  /** The line that shows it. */
  line: StatementLine | null;
  /** Whether the line proves exactly the payment that the record asked for. */
  isExact: boolean;
}

/** How fees are booked that the network's API has reported. */
export const reportedFeeFlows: readonly string[] = ['collected', 'suspense', 'network_fee'];
const feeFlows: readonly string[] = [...reportedFeeFlows, 'statement_fee'];

/** What the ledger has on the float. A correction of another amount is booked against network_costs too. */
export function ourSides({ type }: Pick<OwnRecord, 'type'>, movements: readonly FloatMovement[]): Sides {
  const sides = { paidMinor: 0n, feeMinor: 0n, backMinor: 0n };
  for (const { flow, isDebit, isCost, amount } of movements) {
    const minor = BigInt(amount);
    const isForward = isDebit === (type === 'charge');
    if (isCost && feeFlows.includes(flow)) sides.feeMinor += isDebit ? -minor : minor;
    else if (flow === 'statement_amount') sides.paidMinor += isForward ? minor : -minor;
    else if (isForward) sides.paidMinor += minor;
    else sides.backMinor += minor;
  }
  return sides;
}

/** What the statement has; `isFeeKnown` is false where its lines say nothing of fees. */
function theirSides({ type }: OwnRecord, lines: readonly StatementLine[]): Sides & { isFeeKnown: boolean } {
  const sides = { paidMinor: 0n, feeMinor: 0n, backMinor: 0n, isFeeKnown: false };
  for (const line of lines) {
    if (line.status !== 'completed') continue;
    if (namesFee(line)) sides.isFeeKnown = true;
    if (line.kind === 'fee') sides.feeMinor -= line.netMinor;
    else {
      sides[isBack(type, line) ? 'backMinor' : 'paidMinor'] += line.grossMinor;
      // By what changed on the account: of some lines the fee is charged, of others it came back.
      sides.feeMinor += (line.netMinor > 0n ? line.grossMinor : -line.grossMinor) - line.netMinor;
    }
  }
  return sides;
}

/** Whether a line says what the network's fee was. */
export function namesFee({ status, kind, feeMinor }: StatementLine): boolean {
  return status === 'completed' && (feeMinor !== null || kind === 'fee');
}

/** Whether a line moves money against the direction of its record. */
function isBack(type: OwnRecord['type'], { netMinor }: StatementLine): boolean {
  return netMinor > 0n !== (type === 'charge');
}

function isPaying(type: OwnRecord['type'], line: StatementLine): boolean {
  return line.status === 'completed' && line.kind !== 'fee' && !isBack(type, line);
}

/** Compares one record on all three sides; an empty list where they agree. */
export function compare(compared: Compared): Finding[] {
  const { record, movements, lines } = compared;
  const stated = theirSides(record, lines);
  const booked = ourSides(record, movements);
  // What only the fee makes smaller there is not undone.
  const ours = withoutUndone(booked, withImpliedFee(record, booked, stated));
  const theirs = withImpliedFee(record, ours, stated);
  return [...comparePaid(compared, ours, theirs), ...compareBack(compared, ours, theirs)];
}

/** Without what was booked and booked back, and the statement has neither of: money that never came, or that was booked twice. */
function withoutUndone(ours: Sides, theirs: Sides): Sides {
  const more = { paid: ours.paidMinor - theirs.paidMinor, back: ours.backMinor - theirs.backMinor };
  const undone = more.paid < more.back ? more.paid : more.back;
  if (undone <= 0n) return ours;
  return { ...ours, paidMinor: ours.paidMinor - undone, backMinor: ours.backMinor - undone };
}

// A network keeps or charges a few per cent; more is another amount.
const usualFeePercentMax = 10n;

/** Whether an amount may be what a network keeps or charges of a payment, or returns of that. */
export function isUsualFee(feeMinor: bigint, paidMinor: bigint): boolean {
  return (feeMinor < 0n ? -feeMinor : feeMinor) * 100n <= paidMinor * usualFeePercentMax;
}

/** Whether a statement without fees may have an amount less, or more, by a fee of this. */
export function mayBeFee(impliedMinor: bigint, paidMinor: bigint): boolean {
  return impliedMinor > 0n && isUsualFee(impliedMinor, paidMinor);
}

/** Statements without fees have what changed on the account: a little less than was paid, or a little more than was sent. */
function withImpliedFee<Theirs extends Sides & { isFeeKnown: boolean }>(
  { type }: OwnRecord,
  ours: Sides,
  theirs: Theirs,
): Theirs {
  if (theirs.isFeeKnown || ours.paidMinor === 0n || theirs.paidMinor === 0n) return theirs;
  const impliedMinor = type === 'charge' ? ours.paidMinor - theirs.paidMinor : theirs.paidMinor - ours.paidMinor;
  if (!mayBeFee(impliedMinor, ours.paidMinor)) return theirs;
  return { ...theirs, paidMinor: ours.paidMinor, feeMinor: impliedMinor, isFeeKnown: true };
}

function comparePaid({ record, lines, settledTransactions }: Compared, ours: Sides, theirs: Sides): Finding[] {
  const paying = lines.filter((line) => isPaying(record.type, line));
  const [first] = paying;
  const sums = { oursMinor: ours.paidMinor, theirsMinor: theirs.paidMinor };
  const finding = (kind: DifferenceClass, changes: Partial<Finding> = {}): Finding => ({
    ...{ class: kind, ...sums, mayBeInTransit: false, line: first ?? null, isExact: false },
    ...changes,
  });
  if (ours.paidMinor === 0n) {
    // Of what was booked back the fee may still be booked.
    if (!first) return ours.feeMinor === 0n ? [] : compareFee(ours, theirs, null);
    const exact = paying.find(
      ({ grossMinor, currency }) => grossMinor === record.amountMinor && currency === record.currency,
    );
    return [exact ? finding('missing_here', { line: exact, isExact: true }) : finding('amount')];
  }
  if (!first) {
    const failed = lines.find(({ status }) => status === 'failed');
    return [failed ? finding('status', { line: failed }) : finding('missing_there', { mayBeInTransit: true })];
  }
  if (ours.paidMinor !== theirs.paidMinor) {
    const extra = paying.filter(
      ({ transactionId, ordinal }) => ordinal > 1n || !settledTransactions.has(transactionId),
    );
    const extraMinor = extra.reduce((sum, { grossMinor }) => sum + grossMinor, 0n);
    const isExtra = extra.length > 0 && theirs.paidMinor - extraMinor === ours.paidMinor;
    return [isExtra ? finding('duplicate', { line: extra[0] ?? first }) : finding('amount')];
  }
  return compareFee(ours, theirs, first);
}

function compareFee(
  { feeMinor: oursMinor }: Sides,
  { feeMinor: theirsMinor }: Sides,
  line: StatementLine | null,
): Finding[] {
  if (oursMinor === theirsMinor) return [];
  return [{ class: 'fee', oursMinor, theirsMinor, mayBeInTransit: false, line, isExact: false }];
}

function compareBack({ record, lines }: Compared, ours: Sides, theirs: Sides): Finding[] {
  if (ours.backMinor === theirs.backMinor) return [];
  const line = lines.find((each) => each.status === 'completed' && each.kind !== 'fee' && isBack(record.type, each));
  const sums = { oursMinor: -ours.backMinor, theirsMinor: -theirs.backMinor, isExact: false };
  return theirs.backMinor > ours.backMinor
    ? [{ class: 'reversed', ...sums, mayBeInTransit: false, line: line ?? null }]
    : [{ class: 'missing_there', ...sums, mayBeInTransit: true, line: line ?? null }];
}

/** What is listed for a record: what the statement moved and the ledger did not, or the other way round, up to a time. */
export function imbalance(
  { movements, lines }: Pick<Compared, 'movements' | 'lines'>,
  { before, sum }: { before: Date; sum: 'beforeStart' | 'beforeEnd' },
): bigint {
  const theirsMinor = lines.filter(({ at }) => at < before).reduce((total, { netMinor }) => total + netMinor, 0n);
  return movements.reduce((total, each) => total - (each.isDebit ? 1n : -1n) * BigInt(each[sum]), theirsMinor);
}
