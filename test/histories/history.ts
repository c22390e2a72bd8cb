import type { Balances, Interval, Observation } from './balance-history.ts';
import type { ReadEvent, RecordRead } from './record-history.ts';

type Body = Readonly<Record<string, unknown>>;

/** What an operation needs: `cost` dalasi of one account, beside the debt of another. */
interface Refusal {
  account: string;
  owed: string;
  cost: number;
}

/** What the clients of a run have been shown, and when. Times are of one clock, which the services have too. */
export class History {
  readonly observations: Observation[] = [];
  /** By record. */
  readonly reads = new Map<string, RecordRead[]>();
  readonly eventReads = new Map<string, (readonly ReadEvent[])[]>();
  /** By record and state, when a response that showed it first had arrived. */
  readonly #shownByMs = new Map<string, number>();

  addRecord({ fromMs, byMs }: Interval, { id, status }: Body): void {
    const [record, state] = [String(id), String(status)];
    addTo(this.reads, record, { fromMs, byMs, state });
    const key = `${record} ${state}`;
    this.#shownByMs.set(key, Math.min(byMs, this.#shownByMs.get(key) ?? Infinity));
  }

  addEvents({ fromMs, byMs }: Interval, record: string, events: readonly ReadEvent[]): void {
    addTo(this.reads, record, { fromMs, byMs, events: events.length });
    addTo(this.eventReads, record, events);
  }

  /** Balances that one response showed together, in dalasi. */
  addBalances({ fromMs, byMs }: Interval, shown: Readonly<Record<string, unknown>>): void {
    const expected = Object.entries(shown).map(([account, amount]) => [account, bututs(amount)] as const);
    const text = expected.map(([account, amount]) => `${account} ${amount}`).join(', ');
    const sees = (balances: Balances): boolean =>
      expected.every(([account, amount]) => (balances.get(account) ?? 0n) === amount);
    this.observations.push({ name: `${text}, read at ${fromMs}`, sees, fromMs, byMs });
  }

  /** A refusal shows that the balance did not cover the cost and what is owed, which repays first. */
  addRefusal({ fromMs, byMs }: Interval, { account, owed, cost }: Refusal): void {
    const sees = (balances: Balances): boolean =>
      (balances.get(account) ?? 0n) - (balances.get(owed) ?? 0n) < bututs(cost);
    this.observations.push({ name: `${account} below ${cost}, refused at ${fromMs}`, sees, fromMs, byMs });
  }

  /** When it was first known that a record has been in one of these states; Infinity if it never was. */
  shownByMs(record: string, states: readonly string[]): number {
    return Math.min(...states.map((state) => this.#shownByMs.get(`${record} ${state}`) ?? Infinity));
  }
}

function addTo<Item>(lists: Map<string, Item[]>, key: string, item: Item): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** An amount of a response, which is absent where it is 0. */
function bututs(dalasi: unknown): bigint {
  return BigInt(Math.round(Number(dalasi ?? 0) * 100));
}
