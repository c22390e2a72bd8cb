import { AppError } from '../api/app-error.ts';
import { isObject } from '../kit/untyped.ts';
import type { StatementEntry, StatementLineKind } from '../networks/statement.ts';
import { isTimeForm, timeForms, type TimeForm } from './read-cells.ts';

/** What a column of a statement's file may hold. */
const fields = [
  'transaction_id',
  'time',
  'amount',
  'credit',
  'debit',
  'fee',
  'currency',
  'type',
  'status',
  'reversal',
  'reference',
  'original_transaction_id',
  'counterparty_number',
  'counterparty_name',
  'balance',
] as const;
export type Field = (typeof fields)[number];

/** How a network's files are read. Everything but the columns has a default. */
export interface Mapping {
  /** The heading of each field's column. */
  columns: Partial<Record<Field, string>>;
  /** Whether amounts are what changed on the account, or what was paid. */
  amount: 'net' | 'gross';
  /** Whether an amount has its sign, or the type says in which direction it goes. */
  sign: 'signed' | 'by_type';
  time: TimeForm;
  decimal: '.' | ',';
  encoding: string;
  /** The network's words for kinds and states, in lower case, beside those that are known anyway. */
  types: Readonly<Record<string, StatementLineKind>>;
  statuses: Readonly<Record<string, StatementEntry['status']>>;
}

const usual: Mapping = {
  columns: {},
  amount: 'net',
  sign: 'signed',
  time: 'day_first',
  decimal: '.',
  encoding: 'utf-8',
  types: {},
  statuses: {},
};

// Headings of statements and of the networks' APIs, without case, spaces and punctuation.
const headings: Readonly<Record<Field, readonly string[]>> = {
  transaction_id: [
    'transactionid',
    'transactionreference',
    'txid',
    'txnid',
    'transaction',
    'receipt',
    'receiptno',
    'id',
  ],
  time: ['time', 'timestamp', 'date', 'datetime', 'transactiondate', 'creationdate', 'completedat', 'createdat', 'at'],
  amount: ['amount', 'netamount', 'net', 'value', 'amountgmd'],
  credit: ['credit', 'paidin', 'moneyin', 'in', 'deposit'],
  debit: ['debit', 'paidout', 'withdrawn', 'moneyout', 'out', 'withdrawal'],
  fee: ['fee', 'fees', 'charge', 'charges', 'commission', 'feeamount'],
  currency: ['currency', 'currencycode', 'ccy'],
  type: ['type', 'transactiontype', 'kind', 'operation'],
  status: ['status', 'transactionstatus', 'state'],
  reversal: ['isreversal', 'reversal'],
  reference: [
    'reference',
    'clientreference',
    'ourreference',
    'externalid',
    'externalreference',
    'merchantreference',
    'requestingorganisationtransactionreference',
  ],
  original_transaction_id: ['originaltransactionid', 'originaltransactionreference', 'reversedtransactionid'],
  counterparty_number: [
    'counterpartynumber',
    'counterpartymobile',
    'counterparty',
    'msisdn',
    'mobile',
    'phone',
    'number',
    'accountnumber',
    'sendermobile',
  ],
  counterparty_name: ['counterpartyname', 'name', 'customername', 'sendername'],
  balance: ['balance', 'runningbalance', 'balanceafter', 'closingbalance'],
};

/** The kinds by the words that Wave, the GSMA's API and usual statements have for them. */
const knownTypes: Readonly<Record<string, StatementLineKind>> = {
  ...{ collection: 'collection', payment: 'collection', merchant_payment: 'collection', merchantpay: 'collection' },
  ...{ api_checkout: 'collection', b2b_payment: 'collection', deposit: 'other', transfer: 'other' },
  ...{ payout: 'payout', disbursement: 'payout', api_payout: 'payout', bulk_payment: 'payout' },
  ...{ refund: 'refund', merchant_payment_refund: 'refund', api_checkout_refund: 'refund' },
  ...{ collection_reversal: 'collection_reversal', payment_reversal: 'collection_reversal' },
  ...{
    payout_reversal: 'payout_reversal',
    api_payout_reversal: 'payout_reversal',
    bulk_payment_reversal: 'payout_reversal',
  },
  ...{ b2b_payment_reversal: 'collection_reversal', merchant_sweep: 'other', adjustment: 'other', other: 'other' },
  ...{ fee: 'fee', fees: 'fee', charge: 'fee', commission: 'fee', withdrawal: 'other', topup: 'other' },
};

const knownStatuses: Readonly<Record<string, StatementEntry['status']>> = {
  ...{
    completed: 'completed',
    complete: 'completed',
    success: 'completed',
    successful: 'completed',
    succeeded: 'completed',
  },
  ...{ paid: 'completed', settled: 'completed', ok: 'completed', pending: 'pending', processing: 'pending' },
  ...{
    failed: 'failed',
    rejected: 'failed',
    declined: 'failed',
    cancelled: 'failed',
    expired: 'failed',
    error: 'failed',
  },
};

/** The kind of a network's word; undefined for one that is not known. */
export function kindOf({ types }: Mapping, word: string): StatementLineKind | undefined {
  const key = wordOf(word);
  return ownValue(types, word.trim().toLowerCase()) ?? ownValue(knownTypes, key);
}

export function statusOf({ statuses }: Mapping, word: string): StatementEntry['status'] | undefined {
  return ownValue(statuses, word.trim().toLowerCase()) ?? ownValue(knownStatuses, wordOf(word));
}

function ownValue<Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined;
}

function wordOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** The column of each field. Null where the row is not the heading that a mapping describes. */
export type Columns = Readonly<Partial<Record<Field, number>>>;

/** The columns of a mapping in a row of headings; null where one that it names is not there. */
export function columnsOf(mapping: Mapping, cells: readonly string[]): Columns | null {
  const columns: Partial<Record<Field, number>> = {};
  for (const field of fields) {
    const heading = mapping.columns[field];
    if (heading === undefined) continue;
    const index = cells.findIndex((cell) => plain(cell) === plain(heading));
    if (index === -1) return null;
    columns[field] = index;
  }
  return columns;
}

/** A mapping by headings that are commonly used; null where the necessary ones are not among them. */
export function guessMapping(cells: readonly string[]): Mapping | null {
  const columns: Partial<Record<Field, string>> = {};
  const names = cells.map(plain);
  for (const field of fields) {
    // In the order of preference: `transaction_id` before `id`.
    const heading = headings[field].find((name) => names.includes(name));
    if (heading !== undefined) columns[field] = cells[names.indexOf(heading)] ?? '';
  }
  return missingFields(columns).length === 0 ? { ...usual, columns } : null;
}

function missingFields(columns: Mapping['columns']): string[] {
  const hasAmount = columns.amount !== undefined || (columns.credit !== undefined && columns.debit !== undefined);
  return [
    ...(columns.transaction_id === undefined ? ['transaction_id'] : []),
    ...(columns.time === undefined ? ['time'] : []),
    ...(hasAmount ? [] : ['amount (or credit and debit)']),
  ];
}

function plain(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

const kinds: readonly StatementLineKind[] = [
  ...(['collection', 'payout', 'refund', 'collection_reversal', 'payout_reversal', 'fee', 'other'] as const),
];
const encodings = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be'];

/** Reads a mapping that a person wrote. Throws AppError `invalid_request`, which names what is wrong. */
export function readMapping(definition: unknown): Mapping {
  const written = objectOf(definition, 'The mapping');
  const known = Object.keys(usual);
  for (const key of Object.keys(written)) {
    if (!known.includes(key)) throw wrong(`The mapping has no ${key}. It has ${known.join(', ')}.`);
  }
  const columns = columnsIn(objectOf(written['columns'], 'columns'));
  const mapping: Mapping = {
    columns,
    amount: choice(written['amount'], 'amount', ['net', 'gross'], usual.amount),
    sign: choice(written['sign'], 'sign', ['signed', 'by_type'], usual.sign),
    time: choice(written['time'], 'time', timeForms.filter(isTimeForm), usual.time),
    decimal: choice(written['decimal'], 'decimal', ['.', ','], usual.decimal),
    encoding: choice(written['encoding'], 'encoding', encodings, usual.encoding),
    types: wordsIn(written['types'], 'types', kinds),
    statuses: wordsIn(written['statuses'], 'statuses', ['completed', 'pending', 'failed']),
  };
  const missing = missingFields(columns);
  if (missing.length > 0) throw wrong(`The mapping names no column for ${missing.join(', ')}.`);
  if (mapping.sign === 'by_type' && columns.type === undefined)
    throw wrong('With sign by_type, name the column of type.');
  return mapping;
}

function columnsIn(written: Readonly<Record<string, unknown>>): Mapping['columns'] {
  const columns: Partial<Record<Field, string>> = {};
  for (const [name, heading] of Object.entries(written)) {
    const field = fields.find((each) => each === name);
    if (field === undefined) throw wrong(`columns has no ${name}. It has ${fields.join(', ')}.`);
    if (typeof heading !== 'string' || plain(heading) === '')
      throw wrong(`columns.${name} is the heading of a column.`);
    columns[field] = heading;
  }
  return columns;
}

function wordsIn<Value extends string>(
  written: unknown,
  name: string,
  values: readonly Value[],
): Readonly<Record<string, Value>> {
  const entries = Object.entries(written === undefined ? {} : objectOf(written, name));
  return Object.fromEntries(
    entries.map(([word, value]) => [word.trim().toLowerCase(), choice(value, `${name}.${word}`, values)]),
  );
}

function choice<Value extends string>(written: unknown, name: string, values: readonly Value[], unset?: Value): Value {
  if (written === undefined && unset !== undefined) return unset;
  const value = values.find((each) => each === written);
  if (value === undefined) throw wrong(`${name} is one of ${values.join(', ')}.`);
  return value;
}

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (isObject(value)) return value;
  throw wrong(`${name} is an object.`);
}

function wrong(message: string): AppError {
  return new AppError('invalid_request', message);
}
