import type { Queryable } from '../kit/db.ts';
import { rowBy, rowsBy, runBy, statementBy, valueBy } from '../kit/run-statement.ts';
import { recordConditions, type RecordFilter } from '../api/list-filter.ts';
import { finderOf } from '../api/find-record.ts';
import { listOf, type ListSource } from '../api/list-reader.ts';
import { takeClause, takeValues, type Take } from '../kit/shared-allowance.ts';
import type { VirtualTerminal } from './terminal.ts';

const columns = `merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt"`;

/** Returns whether the code was free. Of two concurrent claims of a code, one returns false. */
export async function claimCode(
  db: Queryable,
  terminal: Pick<VirtualTerminal, 'merchantId' | 'id' | 'code'>,
): Promise<boolean> {
  const inserted = await db.run({
    name: 'terminal_codes_take',
    text: `INSERT INTO terminal_codes (code, merchant_id, terminal_id) VALUES ($1, $2, $3)
           ON CONFLICT (code) DO NOTHING`,
    values: [terminal.code, terminal.merchantId, terminal.id],
  });
  return inserted === 1;
}

/** Also finds the owner of a deleted terminal's code. */
export const findCodeOwner = rowBy<{ merchantId: string; terminalId: string }, [code: string]>({
  name: 'terminal_codes_find',
  text: `-- across merchants: a code is typed before anybody knows whose counter it is at
         SELECT merchant_id AS "merchantId", terminal_id AS "terminalId" FROM terminal_codes WHERE code = $1`,
});

export const insertTerminal = statementBy<[terminal: VirtualTerminal]>({
  name: 'virtual_terminals_insert',
  text: `INSERT INTO virtual_terminals (merchant_id, id, name, code, chat_numbers, chat_canonical, active, created_at,
           updated_at, deleted_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL)`,
  values: (terminal) => [
    terminal.merchantId,
    terminal.id,
    terminal.name,
    terminal.code,
    terminal.chatNumbers,
    terminal.chatCanonical,
    terminal.active,
    terminal.createdAt,
    terminal.updatedAt,
  ],
});

/** Writes the fields that can change; the caller holds the row's lock. */
export const updateTerminalRow = statementBy<[terminal: VirtualTerminal]>({
  name: 'virtual_terminals_update',
  text: `UPDATE virtual_terminals
         SET name = $3, chat_numbers = $4, chat_canonical = $5, active = $6, updated_at = $7
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (terminal) => [
    terminal.merchantId,
    terminal.id,
    terminal.name,
    terminal.chatNumbers,
    terminal.chatCanonical,
    terminal.active,
    terminal.updatedAt,
  ],
});

/** The row stays for its page and its payments. Returns 0 if there is no such terminal. */
export const markTerminalDeleted = runBy<[terminal: { merchantId: string; id: string }, deletedAt: Date]>({
  name: 'virtual_terminals_mark_deleted',
  text: `UPDATE virtual_terminals SET deleted_at = $3, updated_at = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (terminal, deletedAt) => [terminal.merchantId, terminal.id, deletedAt],
});

/** Also finds a deleted terminal. */
export const findTerminalRow = finderOf<VirtualTerminal>({
  name: 'virtual_terminals_find',
  text: `SELECT ${columns} FROM virtual_terminals WHERE merchant_id = $1 AND id = $2`,
});

/** Serializes changes of a terminal. Payments at it do not wait. */
export const lockTerminalForChange = finderOf<VirtualTerminal>({
  name: 'virtual_terminals_lock_for_change',
  text: `SELECT ${columns} FROM virtual_terminals
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE`,
});

const searchColumns = [
  'name',
  'code',
  `array_to_string(chat_numbers, ' ')`,
  `array_to_string(chat_canonical, ' ')`,
  'id::text',
];

const terminalList: ListSource<VirtualTerminal> = {
  name: 'virtual_terminals',
  select: `SELECT ${columns} FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL`,
};

/** Newest first. */
export const listTerminals = listOf(terminalList, (filter: RecordFilter) =>
  recordConditions('virtual_terminals', filter, searchColumns),
);

/**
 * Takes from an allowance that all merchants and processes share. Returns the new arrival time, or undefined if the allowance
 * is used up.
 */
export const takeServiceAllowance = valueBy<bigint | undefined, [name: string, take: Take]>({
  name: 'service_limits_take',
  text: `-- across merchants: a code is guessed before anybody knows whose counter it is at
         INSERT INTO service_limits (name, arrival_us) ${takeClause('service_limits', ['name'])}`,
  values: (name, take) => [name, ...takeValues(take)],
  none: undefined,
});

export const findServiceArrival = valueBy<bigint | undefined, [name: string]>({
  name: 'service_limits_find',
  text: `-- across merchants: see service_limits_take
         SELECT arrival_us AS value FROM service_limits WHERE name = $1`,
  none: undefined,
});

/**
 * Sets how many new payments a second the terminal's page accepts: 0 is no limit, null applies the merchant's limit. A deleted
 * terminal keeps its own.
 */
export const updateTerminalRateLimit = runBy<
  [terminal: Pick<VirtualTerminal, 'merchantId' | 'id'>, paymentsPerSecond: bigint | null]
>({
  name: 'virtual_terminals_update_rate_limit',
  text: `UPDATE virtual_terminals SET rate_limit = $3
         WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL`,
  values: (terminal, paymentsPerSecond) => [terminal.merchantId, terminal.id, paymentsPerSecond],
});

// Far more than an operator sets one by one.
const rateLimitsShownMax = 500;

/** A merchant's terminals that have a rate limit of their own, oldest first, at most 500. */
export const listTerminalsWithRateLimit = rowsBy<VirtualTerminal, [merchantId: string]>({
  name: 'virtual_terminals_with_rate_limit',
  text: `SELECT ${columns} FROM virtual_terminals
         WHERE merchant_id = $1 AND rate_limit IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT $2`,
  values: (merchantId) => [merchantId, rateLimitsShownMax],
});
