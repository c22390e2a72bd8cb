import { addMs, dayMs } from '../kit/clock.ts';
import { isNetworkId } from '../networks/checked-connector.ts';
import { readableText, type StatementEntry, type StatementLineKind } from '../networks/statement.ts';
import { kindOf, statusOf, type Columns, type Field, type Mapping } from './mapping.ts';
import { readSignedAmount, readTime } from './read-cells.ts';

/** A row of a file: a line, or the reason why it is none. */
export type ReadLine = { line: StatementEntry } | { refusal: string };

/** What a row is read against. */
export interface LineContext {
  mapping: Mapping;
  columns: Columns;
  /** Of the account. */
  currency: string;
  now: Date;
}

/** Why a row is no line. */
class Refusal extends Error {}

/** Why a row is of no transaction, as the sums below a statement are: every other row that is refused may be. */
export const noTransactionRefusal = 'It has no transaction id.';

/** Reads a row. Whatever it holds, it is a line or a refusal whose reason repeats nothing of it that could do harm. */
export function readLine(context: LineContext, cells: readonly string[]): ReadLine {
  try {
    return { line: lineOf(context, cells) };
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.message };
    throw error;
  }
}

// Networks' clocks may be ahead, but no line is of another day to come.
const aheadMs = dayMs;
const earliest = new Date('2010-01-01T00:00:00Z');

function lineOf(context: LineContext, cells: readonly string[]): StatementEntry {
  const { mapping, columns, currency, now } = context;
  const text = (field: Field): string => {
    const index = columns[field];
    return index === undefined ? '' : (cells[index] ?? '').trim();
  };
  if (text('transaction_id') === '') throw new Refusal(noTransactionRefusal);
  const transactionId = idOf(text('transaction_id'), 'transaction id');
  const at = readTime(text('time'), mapping.time);
  if (at === undefined) throw new Refusal('Its time cannot be read.');
  if (at < earliest || at > addMs(now, aheadMs)) throw new Refusal('Its time is not one of this statement.');
  const lineCurrency = text('currency');
  if (lineCurrency !== '' && lineCurrency.toUpperCase() !== currency) {
    throw new Refusal(`It is not in ${currency}, the currency of this account.`);
  }
  const status = statusIn(mapping, text('status'));
  const feeMinor = text('fee') === '' ? null : unsignedAmount(context, text('fee'), 'fee');
  const money = moneyOf(context, text, { status, feeMinor });
  const balanceText = text('balance');
  const balanceMinor = balanceText === '' ? null : amountOf(context, balanceText, 'balance');
  const original = text('original_transaction_id');
  return {
    ...{ transactionId, status, at, feeMinor, currency, balanceMinor, ...money },
    reference: readableText(text('reference')),
    originalTransactionId: original === '' ? null : idOf(original, 'original transaction id'),
    counterpartyNumber: readableText(text('counterparty_number')),
    counterpartyName: readableText(text('counterparty_name')),
  };
}

// What a spreadsheet makes of an id of many digits: 1.23457E+15, which is the same for a thousand of them.
const roundedForm = /^\d(?:\.\d+)?E\+\d+$/i;

function idOf(text: string, name: string): string {
  if (text.startsWith('=')) throw new Refusal(`Its ${name} is a formula.`);
  if (roundedForm.test(text)) {
    throw new Refusal(`A spreadsheet has rounded its ${name}. Import the file as it was downloaded.`);
  }
  if (isNetworkId(text)) return text;
  throw new Refusal(`Its ${name} is too long or has characters that ids do not have.`);
}

function statusIn(mapping: Mapping, word: string): StatementEntry['status'] {
  if (word === '') return 'completed';
  const status = statusOf(mapping, word);
  if (status === undefined) throw new Refusal('Its status is a word that the mapping does not know.');
  return status;
}

function amountOf({ mapping }: LineContext, text: string, name: string): bigint {
  if (text.startsWith('=')) throw new Refusal(`Its ${name} is a formula.`);
  const minor = readSignedAmount(text, mapping.decimal);
  if (minor === undefined) throw new Refusal(`Its ${name} cannot be read as an amount with two decimals.`);
  return minor;
}

function unsignedAmount(context: LineContext, text: string, name: string): bigint {
  const minor = amountOf(context, text, name);
  if (minor < 0n) throw new Refusal(`Its ${name} is below zero.`);
  return minor;
}

type Money = Pick<StatementEntry, 'kind' | 'netMinor' | 'grossMinor'>;

/** The kind and the amounts. `stated` is what the file says, with the sign of what it does to the account. */
function moneyOf(
  context: LineContext,
  text: (field: Field) => string,
  { status, feeMinor }: Pick<StatementEntry, 'status' | 'feeMinor'>,
): Money {
  const { mapping } = context;
  const word = text('type');
  const named = word === '' ? undefined : kindOf(mapping, word);
  const isReversal = /^(?:true|yes|1|y)$/i.test(text('reversal'));
  const statedMinor = statedAmount(context, text, named);
  if (statedMinor === 0n) throw new Refusal('Its amount is zero.');
  const kind = kindWithSign({ named: word === '' ? null : (named ?? 'other'), isReversal, statedMinor });
  if (!isIncoming(kind, statedMinor)) {
    throw new Refusal(`Its amount is ${statedMinor < 0n ? 'below' : 'above'} zero, which a ${kind} is not.`);
  }
  const amounts = amountsOf(kind, { mapping, statedMinor, feeMinor });
  if (amounts.grossMinor < 0n) throw new Refusal('Its fee is larger than its amount.');
  return { kind, ...amounts, netMinor: status === 'completed' ? amounts.netMinor : 0n };
}

function statedAmount(
  context: LineContext,
  text: (field: Field) => string,
  kind: StatementLineKind | undefined,
): bigint {
  const { mapping, columns } = context;
  if (columns.amount === undefined) {
    const [credit, debit] = [text('credit'), text('debit')];
    const creditMinor = credit === '' ? 0n : unsignedAmount(context, credit, 'credit');
    const debitMinor = debit === '' ? 0n : unsignedAmount(context, debit, 'debit');
    if (creditMinor > 0n && debitMinor > 0n) throw new Refusal('It has a credit and a debit.');
    return creditMinor - debitMinor;
  }
  const amount = text('amount');
  if (amount === '') throw new Refusal('It has no amount.');
  if (mapping.sign === 'signed') return amountOf(context, amount, 'amount');
  if (kind === undefined) throw new Refusal('Its type is a word that the mapping does not know.');
  const minor = unsignedAmount(context, amount, 'amount');
  return kind === 'collection' || kind === 'payout_reversal' || kind === 'other' ? minor : -minor;
}

function kindWithSign({
  named,
  isReversal,
  statedMinor,
}: {
  named: StatementLineKind | null;
  isReversal: boolean;
  statedMinor: bigint;
}): StatementLineKind {
  const isIn = statedMinor > 0n;
  if (named === null) {
    if (isReversal) return isIn ? 'payout_reversal' : 'collection_reversal';
    return isIn ? 'collection' : 'payout';
  }
  if (!isReversal) return named;
  if (named === 'collection') return 'collection_reversal';
  return named === 'payout' || named === 'refund' ? 'payout_reversal' : named;
}

/** Whether the sign is that of the kind; a fee and whatever else there is may go either way. */
function isIncoming(kind: StatementLineKind, statedMinor: bigint): boolean {
  switch (kind) {
    case 'collection':
    case 'payout_reversal':
      return statedMinor > 0n;
    case 'payout':
    case 'refund':
    case 'collection_reversal':
      return statedMinor < 0n;
    case 'fee':
    case 'other':
      return true;
  }
}

/** A network keeps its fee from what it collects, and charges it on top of what it pays; a reversal returns it. */
function amountsOf(
  kind: StatementLineKind,
  { mapping, statedMinor, feeMinor }: { mapping: Mapping; statedMinor: bigint; feeMinor: bigint | null },
): { netMinor: bigint; grossMinor: bigint } {
  const sizeMinor = statedMinor < 0n ? -statedMinor : statedMinor;
  const sign = statedMinor < 0n ? -1n : 1n;
  const fee = feeMinor ?? 0n;
  const isDeducted = kind === 'collection' || kind === 'collection_reversal';
  if (kind === 'fee' || kind === 'other') return { netMinor: statedMinor, grossMinor: sizeMinor };
  if (mapping.amount === 'gross') {
    return { grossMinor: sizeMinor, netMinor: sign * (isDeducted ? sizeMinor - fee : sizeMinor + fee) };
  }
  return { grossMinor: isDeducted ? sizeMinor + fee : sizeMinor - fee, netMinor: statedMinor };
}
