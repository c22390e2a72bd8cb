import { Choices } from './choices.ts';
import type { MachineRoom } from './machines.ts';

type Settled = 'completed' | 'failed';

interface InRoom {
  room: Pick<MachineRoom, 'shared' | 'scheduler'>;
}

// A number that ends in 0004: accepted, and nothing planned.
const isUnsettled = `payouts.status = 'pending' AND planned_status IS NULL`;

/** Payouts that a network has accepted and does not settle by itself: only once an operator asks does it decide them, in its books. */
export class UnsettledPayouts {
  /** What the networks have decided, by our reference. */
  readonly #settled = new Map<string, Settled>();

  async areAny({ room }: InRoom): Promise<boolean> {
    const { rows } = await room.shared.database.asOwner(`SELECT FROM simulator.payouts WHERE ${isUnsettled} LIMIT 1`);
    return rows.length > 0;
  }

  /** Operators ask about those that have a case. */
  async settleOnRequest({ room }: InRoom): Promise<void> {
    const text = `SELECT payouts.account, payouts.id, transfers.reference FROM simulator.payouts
      JOIN transfers ON transfers.reference = COALESCE(client_reference, payouts.reference)
      JOIN cases ON cases.merchant_id = transfers.merchant_id AND subject_id = transfers.id
      WHERE ${isUnsettled} AND cases.kind = 'outcome_unknown' AND cases.status = 'open' ORDER BY transfers.id`;
    const { database } = room.shared;
    for (const { account, id, reference } of (await database.asOwner<Record<string, string>>(text)).rows) {
      const status = new Choices(`settles ${reference}`).pick(['completed', 'failed'] as const);
      const failure = status === 'failed' ? 'account_blocked' : null;
      const update = `UPDATE simulator.payouts SET status = $3, failure_code = $4 WHERE account = $1 AND id = $2`;
      await database.asOwner(update, [account, id, status, failure]);
      room.scheduler.note(`  the network settles ${reference}: ${status}`);
      this.#settled.set(reference ?? '', status);
    }
  }

  /** Each had a case, and ended as its network has decided. */
  async check({ room }: InRoom): Promise<string | null> {
    if (await this.areAny({ room })) return 'waiting: nobody has asked about a payout that its network does not settle';
    const text = `SELECT reference, status FROM transfers WHERE reference = ANY ($1) AND EXISTS (SELECT FROM cases
      WHERE cases.merchant_id = transfers.merchant_id AND subject_id = transfers.id AND kind = 'outcome_unknown')`;
    const { rows } = await room.shared.database.asOwner<Record<string, string>>(text, [[...this.#settled.keys()]]);
    const ended = new Map(rows.map(({ reference, status }) => [reference, status]));
    for (const [reference, status] of this.#settled)
      if (ended.get(reference) !== status) return `waiting: ${reference} is ${ended.get(reference)}, and was ${status}`;
    return null;
  }
}
