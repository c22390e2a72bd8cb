import type { Queryable } from '../kit/db.ts';
import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import type { Movement, Posting } from './posting.ts';
import { listMovementsOfSource } from './queries.ts';

/** The net effect of a source's movements, in bututs; an account that money only passed through is in neither map. */
export interface BookedBySource {
  /** Accounts credited more than debited: what an undo debits. */
  credited: Map<Account, bigint>;
  /** Accounts debited more than credited: what an undo credits. */
  debited: Map<Account, bigint>;
}

/** The net effect of a source's movements that `isIncluded` selects. */
export async function bookedBy(
  db: Queryable,
  source: Pick<Posting, 'merchantId' | 'source'>,
  isIncluded: (movement: Movement & { flow: string }) => boolean,
): Promise<BookedBySource> {
  const net = new Map<Account, bigint>();
  const add = (account: Account, change: bigint) => net.set(account, (net.get(account) ?? 0n) + change);
  for (const movement of await listMovementsOfSource(db, source)) {
    if (!isIncluded(movement)) continue;
    add(movement.credit, movement.amountMinor);
    add(movement.debit, -movement.amountMinor);
  }
  const accounts = [...net].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return {
    credited: new Map(accounts.filter(([, amount]) => amount > 0n)),
    debited: new Map(accounts.filter(([, amount]) => amount < 0n).map(([account, amount]) => [account, -amount])),
  };
}

/** A part of a whole that is returned, after `beforeMinor` of it was returned earlier, in bututs. */
export interface PartOfWhole {
  beforeMinor: bigint;
  partMinor: bigint;
  wholeMinor: bigint;
}

/**
 * Each account's part of what a source has booked, in proportion. The sum of all parts so far is rounded down, so that each
 * account has its own amount back once the whole is returned. The rest of rounding goes to the account that was debited most.
 */
export function partOf(booked: BookedBySource, part: PartOfWhole): BookedBySource {
  const credited = inProportion(booked.credited, part);
  const debited = inProportion(booked.debited, part);
  const sum = (parts: ReadonlyMap<Account, bigint>): bigint => [...parts.values()].reduce((all, one) => all + one, 0n);
  let restMinor = sum(credited) - sum(debited);
  for (const [account] of [...booked.debited].toSorted(([, one], [, other]) => (one < other ? 1 : -1))) {
    const before = debited.get(account) ?? 0n;
    // The rest is below zero where earlier parts added more than this part's share to an account.
    const after = before + restMinor > 0n ? before + restMinor : 0n;
    debited.set(account, after);
    restMinor -= after - before;
  }
  return { credited, debited };
}

function inProportion(wholes: ReadonlyMap<Account, bigint>, part: PartOfWhole): Map<Account, bigint> {
  return new Map([...wholes].map(([account, minor]) => [account, partOfWhole(minor, part)]));
}

/** The share of an amount in bututs that is returned with a part; the sum of all parts so far is rounded down. */
export function partOfWhole(minor: bigint, { beforeMinor, partMinor, wholeMinor }: PartOfWhole): bigint {
  const upTo = (returnedMinor: bigint): bigint => (minor * returnedMinor) / wholeMinor;
  return upTo(beforeMinor + partMinor) - upTo(beforeMinor);
}

/** Movements that debit and credit accounts with these amounts; both maps have the same sum. */
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
