import type { Queryable } from '../kit/db.ts';
import type { Account } from './accounts.ts';
import type { Movement, Posting } from './post.ts';
import { listMovementsOfSource } from './queries.ts';

/** What a source has taken from accounts and given to others, all its movements together. */
export interface BookedBySource {
  /** Credited more than debited: what would have to leave the account again. */
  given: Map<Account, bigint>;
  /** Debited more than credited: what would have to come back. */
  taken: Map<Account, bigint>;
}

/** The net of what was booked for a source by the flows that are meant; what passed through an account is not in it. */
export async function bookedBy(
  db: Queryable,
  at: Pick<Posting, 'merchantId' | 'source'>,
  isMeant: (movement: Movement & { flow: string }) => boolean,
): Promise<BookedBySource> {
  const net = new Map<Account, bigint>();
  const add = (account: Account, change: bigint) => net.set(account, (net.get(account) ?? 0n) + change);
  for (const movement of await listMovementsOfSource(db, at)) {
    if (!isMeant(movement)) continue;
    add(movement.credit, movement.amountMinor);
    add(movement.debit, -movement.amountMinor);
  }
  const accounts = [...net].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    given: new Map(accounts.filter(([, amount]) => amount > 0n)),
    taken: new Map(accounts.filter(([, amount]) => amount < 0n).map(([account, amount]) => [account, -amount])),
  };
}

/** The movements by which `from` gives to `to`, account by account; both are the same sum. */
export function movementsBetween(from: ReadonlyMap<Account, bigint>, to: ReadonlyMap<Account, bigint>): Movement[] {
  const movements: Movement[] = [];
  const left = new Map(to);
  for (const [debit, wholeMinor] of from) {
    let restMinor = wholeMinor;
    for (const [credit, wantedMinor] of left) {
      const amountMinor = wantedMinor < restMinor ? wantedMinor : restMinor;
      if (amountMinor === 0n) continue;
      movements.push({ debit, credit, amountMinor });
      left.set(credit, wantedMinor - amountMinor);
      restMinor -= amountMinor;
    }
  }
  return movements;
}
