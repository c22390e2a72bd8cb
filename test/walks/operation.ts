import fc from 'fast-check';
import type { ModelSub, MoneyModel } from './money-model.ts';
import type { WalkedShop } from './walked-shop.ts';

export type Walk = fc.AsyncCommand<MoneyModel, WalkedShop>;

/** An operation of a walk: what it does to the shop, and to the model. */
export interface Operation<Args> {
  name: string;
  args: fc.Arbitrary<Args>;
  /** Whether it makes sense now. */
  check?: (model: MoneyModel, args: Args) => boolean;
  run: (model: MoneyModel, shop: WalkedShop, args: Args) => Promise<void>;
}

/** Chooses from what there is when the operation runs (`picked`). */
export const pick = fc.nat({ max: 1_000 });

export function picked<Item>(items: readonly Item[], index: number): Item | undefined {
  return items[index % Math.max(items.length, 1)];
}

export function living(model: MoneyModel): ModelSub[] {
  return model.subAccounts.filter(({ isDeleted }) => !isDeleted);
}

class Command<Args> implements fc.AsyncCommand<MoneyModel, WalkedShop> {
  readonly #operation: Operation<Args>;
  readonly #args: Args;

  constructor(operation: Operation<Args>, args: Args) {
    this.#operation = operation;
    this.#args = args;
  }

  check(model: MoneyModel): boolean {
    return this.#operation.check?.(model, this.#args) ?? true;
  }

  async run(model: MoneyModel, shop: WalkedShop): Promise<void> {
    await this.#operation.run(model, shop, this.#args);
    shop.commands += 1;
    await shop.compare(model);
  }

  toString(): string {
    return `${this.#operation.name} ${fc.stringify(this.#args)}`;
  }
}

/** Commands of the operation with random arguments, as often among all as its weight says. */
export function times<Args>(weight: number, operation: Operation<Args>): fc.Arbitrary<Walk>[] {
  const command = operation.args.map((args): Walk => new Command(operation, args));
  return Array.from({ length: weight }, () => command);
}
