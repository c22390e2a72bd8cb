import type { FastifyInstance } from 'fastify';
import { addMs, dayMs } from '../../server/src/kit/clock.ts';
import { hidden } from '../route-options.ts';
import type { Movement } from '../statement/movement.ts';
import type { WaveRoutesContext } from './context.ts';
import { invalidRequest } from './wave-error.ts';
import { sessionIdPrefix, wireAmount, wireTime } from './wire-session.ts';

const pageLength = 1_000;

/** The balance, and the statement of a UTC day. */
export function addWalletRoutes(server: FastifyInstance, context: WaveRoutesContext): void {
  const { simulator, network } = context;

  server.get('/v1/balance', hidden, async (req) => {
    const { account } = context.read(req);
    return {
      amount: wireAmount(await simulator.statements.balance({ account, network: network.id })),
      currency: 'GMD',
    };
  });

  server.get<{ Querystring: { date?: unknown; after?: unknown } }>('/v1/transactions', hidden, async (req) => {
    const { account } = context.read(req);
    const { date, after } = req.query;
    const from = readDay(date);
    const query = { account, network: network.id, from, before: addMs(from, dayMs), after: readCursor(after) };
    const found = await simulator.statements.list({ ...query, rowsMax: pageLength + 1 });
    const items = found.slice(0, pageLength);
    const last = items.at(-1);
    return {
      page_info: {
        start_cursor: typeof after === 'string' ? after : null,
        end_cursor: last === undefined ? null : cursorOf(last),
        has_next_page: found.length > pageLength,
      },
      date,
      items: items.map(wireTransaction),
    };
  });
}

const types = { collection: 'api_checkout', payout: 'api_payout', refund: 'api_checkout_refund' } as const;

function wireTransaction(movement: Movement) {
  const { kind, isReversal } = movement;
  return {
    timestamp: wireTime(movement.at),
    transaction_id: movement.id,
    transaction_type: isReversal && kind === 'payout' ? 'api_payout_reversal' : types[kind],
    amount: wireAmount(movement.amountMinor),
    fee: '0',
    balance: wireAmount(movement.balanceMinor),
    currency: movement.currency,
    is_reversal: isReversal,
    counterparty_mobile: movement.number,
    // A refund has no reference of its own.
    client_reference: kind === 'refund' ? null : movement.reference,
    checkout_api_session_id: kind === 'payout' ? null : `${sessionIdPrefix}${movement.subjectId}`,
  };
}

/** Throws WaveError. */
function readDay(date: unknown): Date {
  const day = new Date(typeof date === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(date) ? `${date}T00:00:00Z` : Number.NaN);
  if (Number.isNaN(day.getTime())) throw invalidRequest('date', 'invalid date format');
  return day;
}

function cursorOf({ at, id }: Movement): string {
  return Buffer.from(`${at.toISOString()} ${id}`).toString('base64url');
}

/** Throws WaveError. */
function readCursor(after: unknown): Pick<Movement, 'at' | 'id'> | null {
  if (after === undefined) return null;
  const [time = '', id] = Buffer.from(typeof after === 'string' ? after : '', 'base64url')
    .toString()
    .split(' ');
  const at = new Date(time);
  if (id === undefined || Number.isNaN(at.getTime())) throw invalidRequest('after', 'invalid cursor');
  return { at, id };
}
