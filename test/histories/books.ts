import type { Balances, Change } from './balance-history.ts';
import type { History } from './history.ts';
import type { ReadEvent, Version } from './record-history.ts';

// What the database holds of one merchant when a run is over.

/** Runs a statement about the merchant, whose id is `$1`. */
export type MerchantRows = <Row>(text: string) => Promise<Row[]>;

export interface MovementRow {
  id: string;
  /** The database's transaction that booked it. */
  transaction: string;
  /** The record that it belongs to, and the payment of a charge. */
  source: string;
  intent: string | null;
  flow: string;
  debit: string;
  credit: string;
  amount: string;
  at: Date;
}

export function listMovements(rows: MerchantRows): Promise<MovementRow[]> {
  return rows(`SELECT movements.id, movements.xmin::text AS transaction, source_id AS source, intent_id AS intent, flow,
      debit_account AS debit, credit_account AS credit, movements.amount, movements.created_at AS at
    FROM ledger_movements AS movements
      LEFT JOIN charges ON charges.merchant_id = movements.merchant_id AND charges.id = source_id
    WHERE movements.merchant_id = $1 ORDER BY movements.id`);
}

const isRead = /^(payable_|receivable_merchant$|sub:|sub_owed:)/;
// The others that clients read grow by credits (docs/ledger.md, "Accounts").
const growsByDebit = /^(receivable_merchant$|sub_owed:)/;

/** What movements add to the balances that clients read. A sub-account's is settled and pending together. */
export function addsOf(movements: readonly MovementRow[]): Balances {
  const adds = new Map<string, bigint>();
  for (const { debit, credit, amount } of movements) {
    for (const [account, credited] of [
      [debit, -BigInt(amount)],
      [credit, BigInt(amount)],
    ] as const) {
      if (!isRead.test(account)) continue;
      const name = account.replace(/:pending$/, '');
      adds.set(name, (adds.get(name) ?? 0n) + (growsByDebit.test(name) ? -credited : credited));
    }
  }
  return adds;
}

/** The states that show that what a flow books of a record is committed. */
const shownBy: Readonly<Record<string, readonly string[]>> = {
  collected: ['completed', 'refunded', 'successful'],
  held: ['pending', 'completed', 'failed', 'cancelled'],
  transfer: ['completed'],
  released: ['failed', 'cancelled'],
};

/** The transactions that changed a balance that clients read: none before its movements' time, and each by when a response showed its effect. */
export function changesOf(movements: readonly MovementRow[], history: History): Change[] {
  const shownByMs = ({ flow, source, intent }: MovementRow): number => {
    const states = shownBy[flow] ?? [];
    return Math.min(history.shownByMs(source, states), history.shownByMs(intent ?? '', states));
  };
  const changes = [...Map.groupBy(movements, ({ transaction }) => transaction).values()].map((booked) => ({
    name: booked.map(({ flow, source, amount }) => `${flow} ${amount} of ${source}`).join(', '),
    adds: addsOf(booked),
    fromMs: Math.min(...booked.map(({ at }) => at.getTime())),
    byMs: Math.min(...booked.map(shownByMs)),
  }));
  return changes.filter(({ adds }) => [...adds.values()].some((added) => added !== 0n));
}

/** The payments, attempts, transfers and refunds in their last state. */
export interface RecordRow {
  id: string;
  kind: string;
  status: string;
  amount: string;
  /** Of an attempt: its payment. */
  intent: string | null;
}

export function listRecords(rows: MerchantRows): Promise<RecordRow[]> {
  return rows(`SELECT id, 'intent' AS kind, status, amount, NULL AS intent FROM payment_intents WHERE merchant_id = $1
    UNION ALL SELECT id, 'charge', status, amount, intent_id FROM charges WHERE merchant_id = $1
    UNION ALL SELECT id, kind, status, amount, NULL FROM transfers WHERE merchant_id = $1`);
}

export type EventRow = ReadEvent & { record: string; state: string; at: Date };

/** The events of payments, attempts and transfers, by record. */
export async function listEvents(rows: MerchantRows): Promise<Map<string, EventRow[]>> {
  const text = `SELECT object_id AS record, id, sequence::integer, record->>'status' AS state, created_at AS at FROM events
    WHERE merchant_id = $1 AND kind ~ '^(payment_intent|charge|transfer|sub_account)' ORDER BY object_id, sequence`;
  return Map.groupBy(await rows<EventRow>(text), ({ record }) => record);
}

/**
 * The versions of a record: its first state, those of its events, and its last. Not every state has an event: an attempt that fails
 * returns its payment to the start, and an attempt of a cancelled payment is cancelled until its money comes late.
 */
export function versionsOf(
  { kind, status }: RecordRow,
  events: readonly EventRow[],
  between: string | null,
): Version[] {
  const versions = events.map(({ state, at }, index) => ({ state, fromMs: at.getTime(), events: index + 1 }));
  const first = kind === 'intent' ? 'processing' : 'pending';
  if (versions[0]?.state !== first) versions.unshift({ state: first, fromMs: 0, events: 0 });
  if (between !== null) versions.splice(1, 0, { state: between, fromMs: 0, events: versions[0]?.events ?? 0 });
  if (versions.at(-1)?.state !== status) versions.push({ state: status, fromMs: 0, events: events.length });
  return versions;
}
