import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import { changesByAccount } from './post.ts';
import type { Movement } from './posting.ts';

/**
 * Movements that are about to be booked on locked accounts, and what they leave there: for flows in which one takes what
 * another has just been given. Balances are counted as the ledger counts them.
 */
export class PlannedMovements {
  readonly movements: Movement[] = [];
  readonly #balances: Map<Account, bigint>;

  /** `locked` has the balances in bututs of every account that the plan spends from. */
  constructor(locked: ReadonlyMap<Account, bigint>) {
    this.#balances = new Map(locked);
  }

  /** What the movements so far leave on the accounts, in bututs. */
  get balances(): ReadonlyMap<Account, bigint> {
    return this.#balances;
  }

  balanceOf(account: Account): bigint {
    return this.#balances.get(account) ?? 0n;
  }

  add(...movements: Movement[]): void {
    const moved = movements.filter(({ amountMinor }) => amountMinor > 0n);
    this.movements.push(...moved);
    for (const [account, change] of changesByAccount(moved)) {
      this.#balances.set(account, this.balanceOf(account) + change);
    }
  }

  /**
   * Gives `credit` an amount, which `repays` may pass on at once: what of it comes back to `sources` they can give. Each of
   * them gives as far as it goes, and `last` the rest.
   */
  give(
    { credit, amountMinor }: { credit: Account; amountMinor: bigint },
    from: { sources: readonly Account[]; last: Account },
    repays: (balances: ReadonlyMap<Account, bigint>) => Movement[],
  ): void {
    const withIt = new Map(this.#balances).set(credit, this.balanceOf(credit) + amountMinor);
    this.add(...repays(withIt));
    let missing = amountMinor;
    for (const debit of from.sources) {
      const given = least(this.balanceOf(debit), missing);
      this.add({ debit, credit, amountMinor: given });
      missing -= given;
    }
    this.add({ debit: from.last, credit, amountMinor: missing });
  }
}
