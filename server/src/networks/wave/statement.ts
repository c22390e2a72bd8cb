import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import { isObject, readAmount } from '../response-values.ts';
import type { StatementEntry, StatementLineKind, StatementSource } from '../statement.ts';
import type { WaveClient } from './client.ts';
import { isSuccess } from './translate.ts';

/** A line of the wallet's statement. */
interface WaveTransaction {
  transactionId: string;
  /** Such as `api_checkout` or `api_payout`. */
  type: string;
  at: Date;
  /** The effect on the wallet, fee included: below zero for money that left it. */
  netMinor: bigint;
  /** Null where the line does not say. */
  feeMinor: bigint | null;
  /** The wallet's balance afterwards; null where the line has none. */
  balanceMinor: bigint | null;
  currency: string;
  isReversal: boolean;
  clientReference: string | null;
  sessionId: string | null;
  counterpartyNumber: string | null;
  counterpartyName: string | null;
}

/** A page of a day's statement. */
interface WaveTransactionPage {
  transactions: WaveTransaction[];
  /** Why lines could not be read, each in a sentence. */
  refusals: string[];
  /** Where the next page begins; null after the last. */
  nextCursor: string | null;
}

/** The statement of the wallet (docs/networks.md, "Wave"). A key may serve many merchants' payments, so it is nobody's in particular. */
export function statementSource(client: WaveClient): StatementSource {
  return {
    // A session and a refund have none.
    hasUnreportedFees: true,
    read: async ({ day, cursor }) => {
      const page = await readDay(client, { day, cursor, reference: null });
      if (typeof page === 'string') return { state: 'unknown', detail: page };
      const { transactions, refusals, nextCursor } = page;
      return { state: 'page', lines: transactions.map(entryOf), refusals, nextCursor };
    },
  };
}

/** One page of the transactions of a UTC day, which is the day of The Gambia; or why there is none. */
async function readDay(
  client: WaveClient,
  { day, cursor, reference }: { day: string; cursor: string | null; reference: string | null },
): Promise<WaveTransactionPage | string> {
  const query = new URLSearchParams({ date: day, ...(cursor === null ? {} : { after: cursor }) });
  const reply = await client.get(`/v1/transactions?${query.toString()}`, reference);
  if (reply.kind !== 'response') return reply.detail;
  return (isSuccess(reply) ? readPage(reply.body) : undefined) ?? `HTTP ${reply.status}`;
}

// A day of a busy wallet has some thousand lines, on pages of a thousand.
const pagesMax = 50;

/** The reversal of a session's payment or refund on the statement of the last days; undefined if Wave did not return all of it. */
export async function findReversal(
  client: WaveClient,
  sought: { reference: string; sessionId: string; type: 'api_checkout' | 'api_checkout_refund'; now: Date },
): Promise<WaveTransaction | null | undefined> {
  const { reference, sessionId, type, now } = sought;
  for (const day of lastDays(now)) {
    let cursor: string | null = null;
    for (let page = 0; page < pagesMax; page += 1) {
      const listed: WaveTransactionPage | string = await readDay(client, { day, cursor, reference });
      // A line that cannot be read may be the one.
      if (typeof listed === 'string' || listed.refusals.length > 0) return undefined;
      const found = listed.transactions.find(
        (line) => line.isReversal && line.type === type && line.sessionId === sessionId,
      );
      if (found) return found;
      cursor = listed.nextCursor;
      if (cursor === null) break;
    }
    // What has not been read may have it.
    if (cursor !== null) return undefined;
  }
  return null;
}

// Wave reverses within three days, so an older one was found long ago; a hint comes on the day of what it is about.
const daysMax = 4;

/** The newest first. */
function lastDays(now: Date): string[] {
  return Array.from({ length: daysMax }, (_none, index) => utcDay(addMs(now, -index * dayMs)));
}

function readPage(body: JsonValue | undefined): WaveTransactionPage | undefined {
  if (!isObject(body) || !Array.isArray(body['items']) || !isObject(body['page_info'])) return undefined;
  const { has_next_page: hasNext, end_cursor: cursor } = body['page_info'];
  if (hasNext === true && typeof cursor !== 'string') return undefined;
  const lines = body['items'].map(readLine);
  return {
    transactions: lines.filter((line) => typeof line !== 'string'),
    refusals: lines.filter((line) => typeof line === 'string'),
    nextCursor: hasNext === true && typeof cursor === 'string' ? cursor : null,
  };
}

/** A line, or why it is none. */
function readLine(item: JsonValue): WaveTransaction | string {
  if (!isObject(item)) return 'A line is not an object.';
  const { transaction_id: transactionId, transaction_type: type, currency } = item;
  const at = new Date(typeof item['timestamp'] === 'string' ? item['timestamp'] : Number.NaN);
  const netMinor = readSigned(item['amount']);
  const feeMinor = item['fee'] === undefined || item['fee'] === null ? null : readSigned(item['fee']);
  if (typeof transactionId !== 'string') return 'A line has no transaction id.';
  if (netMinor === undefined || feeMinor === undefined || typeof currency !== 'string') {
    return 'Its amount is not as documented.';
  }
  if (Number.isNaN(at.getTime())) return 'Its time is not as documented.';
  return {
    ...{ transactionId, at, netMinor, feeMinor, currency },
    type: typeof type === 'string' ? type : '',
    balanceMinor: readSigned(item['balance']) ?? null,
    isReversal: item['is_reversal'] === true,
    clientReference: textOf(item, 'client_reference'),
    sessionId: textOf(item, 'checkout_api_session_id'),
    counterpartyNumber: textOf(item, 'counterparty_mobile'),
    counterpartyName: textOf(item, 'counterparty_name'),
  };
}

function textOf(item: JsonObject, field: string): string | null {
  const value = item[field];
  return typeof value === 'string' ? value : null;
}

/** Bututs of a decimal string that may be below zero. */
function readSigned(value: JsonValue | undefined): bigint | undefined {
  if (typeof value !== 'string') return undefined;
  const minor = readAmount(value.replace(/^-/, ''));
  return minor !== undefined && value.startsWith('-') ? -minor : minor;
}

function entryOf(line: WaveTransaction): StatementEntry {
  const { transactionId, at, netMinor, currency, balanceMinor, counterpartyNumber, counterpartyName } = line;
  const kind = kindOf(line);
  const absoluteMinor = netMinor < 0n ? -netMinor : netMinor;
  const feeMinor = line.feeMinor !== null && line.feeMinor < 0n ? -line.feeMinor : line.feeMinor;
  const fee = feeMinor ?? 0n;
  const isPayout = kind === 'payout' || kind === 'payout_reversal';
  return {
    ...{ transactionId, kind, at, netMinor, currency, balanceMinor, counterpartyNumber, counterpartyName },
    status: 'completed',
    // Of a collection the fee is kept; it is charged on top of a payout.
    grossMinor: isPayout ? absoluteMinor - fee : absoluteMinor + fee,
    feeMinor,
    reference: line.clientReference,
    originalTransactionId: kind === 'refund' && line.sessionId !== null ? refundIdOf(line.sessionId) : null,
  };
}

/** By what a refund is known: its response names no transaction, and its line only the session. */
export function refundIdOf(sessionId: string): string {
  return `${sessionId}-refund`;
}

function kindOf({ type, isReversal, netMinor }: WaveTransaction): StatementLineKind {
  switch (type) {
    case 'merchant_payment':
    case 'api_checkout':
      return isReversal ? 'collection_reversal' : 'collection';
    case 'merchant_payment_refund':
    case 'api_checkout_refund':
      return 'refund';
    case 'api_payout':
    case 'bulk_payment':
      return isReversal ? 'payout_reversal' : 'payout';
    case 'api_payout_reversal':
    case 'bulk_payment_reversal':
      return 'payout_reversal';
    // Older examples have no type.
    case '':
      return netMinor < 0n ? 'payout' : 'collection';
    default:
      return 'other';
  }
}
