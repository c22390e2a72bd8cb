import { addMs, dayMs } from '../../kit/clock.ts';
import { firstMoment, isTime } from '../../kit/time-or-day.ts';
import type { JsonObject, JsonValue } from '../../kit/strict-json.ts';
import type { Reply } from '../http-client.ts';
import { isObject } from '../response-values.ts';
import type { StatementEntry, StatementPage, StatementSource } from '../statement.ts';
import type { GsmaClient } from './client.ts';
import type { GsmaConfiguration } from './configuration.ts';
import { partyValue, readGsmaAmount } from './translate.ts';

// The API's own limit of a page.
const pageEntries = 50;

/**
 * The account's statement entries of a day (docs/networks.md, "GSMA Mobile Money API"). The direction of an entry is that of our
 * own party in it, so without one in the configuration there is no statement.
 */
export function statementSource(client: GsmaClient, configuration: GsmaConfiguration): StatementSource | null {
  const { ownParty } = configuration;
  if (ownParty === null) return null;
  const account = `/accounts/${encodeURIComponent(ownParty.key)}/${encodeURIComponent(ownParty.value)}`;
  return {
    read: async ({ day, cursor }) => {
      const { offset, shortFirst } = readCursor(cursor);
      const from = firstMoment(day);
      const query = new URLSearchParams({
        limit: String(pageEntries),
        offset: String(offset),
        fromDateTime: from.toISOString(),
        toDateTime: addMs(from, dayMs - 1).toISOString(),
      });
      const reply = await client.readAccount(`${account}/statemententries?${query.toString()}`);
      if (shortFirst !== null && isBeyondLast(reply, shortFirst)) return noMore;
      return readPage(reply, { configuration, day, offset });
    },
  };
}

/** Where a page begins and, where the one before was shorter than a page, which entry that one began with. */
interface Position {
  offset: number;
  shortFirst: string | null;
}

const noMore: StatementPage = { state: 'page', lines: [], refusals: [], nextCursor: null };

function readCursor(cursor: string | null): Position {
  const [offset = '0', ...shortFirst] = (cursor ?? '').split(' ');
  return { offset: Number(offset), shortFirst: shortFirst.length === 0 ? null : shortFirst.join(' ') };
}

/**
 * A provider may cap its pages lower than the API does, so a short page is the last one only if nothing follows. A provider that
 * ignores the offset returns it again, and one may refuse an offset beyond the last entry.
 */
function isBeyondLast(reply: Reply, shortFirst: string): boolean {
  if (reply.kind !== 'response') return false;
  if (reply.status === 400 || reply.status === 404 || reply.status === 416) return true;
  return reply.status === 200 && Array.isArray(reply.body) && reply.body.some((entry) => textOf(entry) === shortFirst);
}

/** All of an entry: a fee or a reversal may have the reference of its transaction. */
function textOf(entry: JsonValue | undefined): string {
  return JSON.stringify(entry ?? null);
}

function readPage(
  reply: Reply,
  { configuration, day, offset }: { configuration: GsmaConfiguration; day: string; offset: number },
): StatementPage {
  if (reply.kind !== 'response') return { state: 'unknown', detail: reply.detail };
  if (reply.status !== 200 || !Array.isArray(reply.body)) return { state: 'unknown', detail: `HTTP ${reply.status}` };
  const lines: StatementEntry[] = [];
  const refusals: string[] = [];
  for (const entry of reply.body) {
    const read = isObject(entry) ? readEntry(entry, configuration) : 'An entry is not an object.';
    if (typeof read === 'string') refusals.push(read);
    // A provider that ignores the filter would repeat every other day.
    else if (read.at.toISOString().startsWith(day)) lines.push(read);
  }
  const { length } = reply.body;
  const next = String(offset + length);
  const short = length < pageEntries ? `${next} ${textOf(reply.body[0])}` : next;
  return { state: 'page', lines, refusals, nextCursor: length === 0 ? null : short };
}

/** An entry, or why it is none. */
function readEntry(entry: JsonObject, configuration: GsmaConfiguration): StatementEntry | string {
  const { transactionReference, currency, creationDate, transactionStatus } = entry;
  if (typeof transactionReference !== 'string') return 'An entry has no transaction reference.';
  const grossMinor = readGsmaAmount(entry['amount']);
  if (grossMinor === undefined || grossMinor === 0n || typeof currency !== 'string')
    return 'Its amount is not as documented.';
  if (typeof creationDate !== 'string' || !isTime(creationDate)) return 'Its time is not as documented.';
  const status = statusOf(configuration, transactionStatus);
  if (status === undefined) return 'Its status is a word that is not configured.';
  const isCredit = hasOwnParty(entry['creditParty'], configuration);
  if (isCredit === hasOwnParty(entry['debitParty'], configuration)) return 'It is not about one side of our account.';
  const signedMinor = isCredit ? grossMinor : -grossMinor;
  const counterparty = partyValue(entry[isCredit ? 'debitParty' : 'creditParty'], configuration.identifier.key);
  return {
    ...{ transactionId: transactionReference, kind: isCredit ? 'collection' : 'payout', status, grossMinor, currency },
    ...{ at: new Date(creationDate), netMinor: status === 'completed' ? signedMinor : 0n },
    // The entries have neither fees nor balances nor our reference.
    ...{ feeMinor: null, balanceMinor: null, reference: null, originalTransactionId: null },
    ...{ counterpartyNumber: counterparty, counterpartyName: null },
  };
}

function statusOf({ statuses }: GsmaConfiguration, word: JsonValue | undefined): StatementEntry['status'] | undefined {
  const key = typeof word === 'string' ? word.toLowerCase() : '';
  const meaning = Object.hasOwn(statuses, key) ? statuses[key] : undefined;
  if (meaning === undefined || meaning === 'pending') return meaning;
  // What was reversed later did move; the reversal is an entry of its own.
  return meaning === 'succeeded' || meaning === 'reversed' ? 'completed' : 'failed';
}

function hasOwnParty(party: JsonValue | undefined, { ownParty }: GsmaConfiguration): boolean {
  return ownParty !== null && partyValue(party, ownParty.key) === ownParty.value;
}
