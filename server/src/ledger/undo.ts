import type { Queryable } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import type { Movement, Posting } from './posting.ts';
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
  isIncluded: (movement: Movement & { flow: string }) => boolean,
): Promise<BookedBySource> {
  const net = new Map<Account, bigint>();
  const add = (account: Account, change: bigint) => net.set(account, (net.get(account) ?? 0n) + change);
  for (const movement of await listMovementsOfSource(db, at)) {
    if (!isIncluded(movement)) continue;
    add(movement.credit, movement.amountMinor);
    add(movement.debit, -movement.amountMinor);
  }
  const accounts = [...net].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    given: new Map(accounts.filter(([, amount]) => amount > 0n)),
    taken: new Map(accounts.filter(([, amount]) => amount < 0n).map(([account, amount]) => [account, -amount])),
  };
}

/** A part that comes back of a whole of which some came back before, in bututs. */
export interface PartOfWhole {
  beforeMinor: bigint;
  partMinor: bigint;
  wholeMinor: bigint;
}

/**
 * Each account's part of what a source has booked, in proportion: rounded down over all parts so far, so that each has got
 * its own when the whole is back. What rounding leaves over goes to whoever the source had taken most from.
 */
export function partOf({ given, taken }: BookedBySource, part: PartOfWhole): BookedBySource {
  const partOfGiven = inProportion(given, part);
  const partOfTaken = inProportion(taken, part);
  const sum = (parts: ReadonlyMap<Account, bigint>): bigint => [...parts.values()].reduce((all, one) => all + one, 0n);
  let leftOver = sum(partOfGiven) - sum(partOfTaken);
  const largestFirst = [...taken].toSorted(([, one], [, other]) => (one < other ? 1 : -1)).map(([account]) => account);
  for (const account of largestFirst) {
    const before = partOfTaken.get(account) ?? 0n;
    // Below zero where earlier parts left over what this one has to make up for.
    const after = before + leftOver > 0n ? before + leftOver : 0n;
    partOfTaken.set(account, after);
    leftOver -= after - before;
  }
  return { given: partOfGiven, taken: partOfTaken };
}

function inProportion(wholes: ReadonlyMap<Account, bigint>, part: PartOfWhole): Map<Account, bigint> {
  return new Map([...wholes].map(([account, minor]) => [account, partOfWhole(minor, part)]));
}

/** What of an amount in bututs comes back with a part, rounded down over all parts so far. */
export function partOfWhole(minor: bigint, { beforeMinor, partMinor, wholeMinor }: PartOfWhole): bigint {
  const upTo = (backMinor: bigint): bigint => (minor * backMinor) / wholeMinor;
  return upTo(beforeMinor + partMinor) - upTo(beforeMinor);
}

/** The movements by which `from` gives to `to`, account by account; both are the same sum. */
export function movementsBetween(
  debits: ReadonlyMap<Account, bigint>,
  credits: ReadonlyMap<Account, bigint>,
): Movement[] {
  const movements: Movement[] = [];
  const left = new Map(credits);
  for (const [debit, wholeMinor] of debits) {
    let restMinor = wholeMinor;
    for (const [credit, creditMinor] of left) {
      const amountMinor = least(creditMinor, restMinor);
      if (amountMinor === 0n) continue;
      movements.push({ debit, credit, amountMinor });
      left.set(credit, creditMinor - amountMinor);
      restMinor -= amountMinor;
    }
  }
  return movements;
}
