import { least } from '../kit/money.ts';
import type { Account } from './accounts.ts';
import { changesByAccount } from './post.ts';
import type { Movement } from './posting.ts';

/**
 * Movements to be booked on locked accounts, and the balances that they leave: for flows in which one movement spends what
 * an earlier one has brought. Balances are counted as the ledger counts them.
 */
export class PlannedMovements {
  readonly movements: Movement[] = [];
  readonly #balances: Map<Account, bigint>;

  /** `locked` has the balances in bututs of every account that the plan spends from. */
  constructor(locked: ReadonlyMap<Account, bigint>) {
    this.#balances = new Map(locked);
  }

  /** The balances after the movements so far, in bututs. */
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
   * Credits an account. Each of `sources` pays what it has, in their order, and `last` the rest. What `repays` returns for
   * the balances with the credit is planned first, so `sources` can spend what is repaid to them.
   */
  credit(
    { credit, amountMinor }: { credit: Account; amountMinor: bigint },
    { sources, last }: { sources: readonly Account[]; last: Account },
    repays: (balances: ReadonlyMap<Account, bigint>) => Movement[],
  ): void {
    this.add(...repays(new Map(this.#balances).set(credit, this.balanceOf(credit) + amountMinor)));
    let missingMinor = amountMinor;
    for (const debit of sources) {
      const partMinor = least(this.balanceOf(debit), missingMinor);
      this.add({ debit, credit, amountMinor: partMinor });
      missingMinor -= partMinor;
    }
    this.add({ debit: last, credit, amountMinor: missingMinor });
  }
}
