import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import { isObject, readAmount } from '../response-values.ts';
import type { WaveClient } from './client.ts';
import { isSuccess } from './translate.ts';

/** A line of the wallet's statement. */
export interface WaveTransaction {
  transactionId: string;
  /** Such as `api_checkout` or `api_payout`. */
  type: string;
  at: Date;
  /** The effect on the wallet, fee included: below zero for money that left it. */
  netMinor: bigint;
  feeMinor: bigint;
  /** The wallet's balance afterwards; null where the line has none. */
  balanceMinor: bigint | null;
  currency: string;
  isReversal: boolean;
  clientReference: string | null;
  sessionId: string | null;
  counterpartyNumber: string | null;
}

/** A page of a day's statement. A line that is not as documented makes the whole page unknown. */
export interface WaveTransactionPage {
  transactions: readonly WaveTransaction[];
  /** Where the next page begins; null after the last. */
  nextCursor: string | null;
}

/** One page of the transactions of a UTC day, which is the day of The Gambia; undefined if Wave did not return it. */
export async function listTransactions(
  client: WaveClient,
  { day, after, reference }: { day: string; after: string | null; reference: string | null },
): Promise<WaveTransactionPage | undefined> {
  const query = new URLSearchParams({ date: day, ...(after === null ? {} : { after }) });
  const reply = await client.get(`/v1/transactions?${query.toString()}`, reference);
  return reply.kind === 'response' && isSuccess(reply) ? readPage(reply.body) : undefined;
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
    let after: string | null = null;
    for (let page = 0; page < pagesMax; page += 1) {
      const listed: WaveTransactionPage | undefined = await listTransactions(client, { day, after, reference });
      if (!listed) return undefined;
      const found = listed.transactions.find(
        (line) => line.isReversal && line.type === type && line.sessionId === sessionId,
      );
      if (found) return found;
      after = listed.nextCursor;
      if (after === null) break;
    }
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
  const transactions = lines.filter((line) => line !== undefined);
  if (transactions.length < lines.length) return undefined;
  return { transactions, nextCursor: hasNext === true && typeof cursor === 'string' ? cursor : null };
}

function readLine(item: JsonValue): WaveTransaction | undefined {
  if (!isObject(item)) return undefined;
  const { transaction_id: transactionId, transaction_type: type, currency } = item;
  const at = new Date(typeof item['timestamp'] === 'string' ? item['timestamp'] : Number.NaN);
  const netMinor = readSigned(item['amount']);
  const feeMinor = item['fee'] === undefined || item['fee'] === null ? 0n : readSigned(item['fee']);
  if (typeof transactionId !== 'string' || typeof currency !== 'string') return undefined;
  if (Number.isNaN(at.getTime()) || netMinor === undefined || feeMinor === undefined) return undefined;
  return {
    ...{ transactionId, at, netMinor, feeMinor, currency },
    // Older examples have no type.
    type: typeof type === 'string' ? type : '',
    balanceMinor: readSigned(item['balance']) ?? null,
    isReversal: item['is_reversal'] === true,
    clientReference: textOf(item, 'client_reference'),
    sessionId: textOf(item, 'checkout_api_session_id'),
    counterpartyNumber: textOf(item, 'counterparty_mobile'),
  };
}

function textOf(item: JsonObject, field: string): string | null {
  const value = item[field];
  return typeof value === 'string' ? value : null;
}

/** Bututs of a decimal string that may be below zero. */
export function readSigned(value: JsonValue | undefined): bigint | undefined {
  if (typeof value !== 'string') return undefined;
  const minor = readAmount(value.replace(/^-/, ''));
  return minor !== undefined && value.startsWith('-') ? -minor : minor;
}
