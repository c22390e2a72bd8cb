/** When something happened, as far as is known: at some moment from `fromMs` to `byMs`, of one clock. */
export interface Interval {
  fromMs: number;
  byMs: number;
}

export type Balances = ReadonlyMap<string, bigint>;

/** A committed transaction that changed balances, all at one moment. */
export interface Change extends Interval {
  name: string;
  adds: Balances;
}

/** What a response says of the balances at some moment of its request: `sees` is whether it is true of these. */
export interface Observation extends Interval {
  name: string;
  sees: (balances: Balances) => boolean;
}

interface BalanceHistory {
  opening: Balances;
  changes: readonly Change[];
  observations: readonly Observation[];
}

type Operation = Change | Observation;

/** One order of the operations so far that explains them: what is done of those that have not ended. */
interface World {
  balances: Balances;
  done: ReadonlySet<Operation>;
}

// A history of a few clients needs some hundred; one that needs more could not be decided.
const worldsMax = 100_000;
// Of worlds and operations, in the description of an anomaly.
const shownMax = 40;

/**
 * Whether a history of balances is linearizable: whether all changes and observations can be put in one order, each at a moment
 * of its own interval, in which every observation is true of the sum of the changes before it. Returns the first operation for
 * which no order is left; undefined if there is one.
 *
 * It follows the operations as they end and holds every order that is still possible, as in Lowe, "Testing for linearizability"
 * (2017). A change is applied no sooner than an observation or its own end needs it.
 */
export function findBalanceAnomaly({ opening, changes, observations }: BalanceHistory): string | undefined {
  const open = new Set<Operation>();
  let worlds: readonly World[] = [{ balances: opening, done: new Set() }];
  for (const { operation, isEnd } of timelineOf([...changes, ...observations])) {
    if (!isEnd) {
      open.add(operation);
      continue;
    }
    // It was done in all worlds before its end.
    if (!open.has(operation)) continue;
    const next = new Map<string, World>();
    const names = namesOf(open);
    for (const world of worlds) {
      for (const reached of worldsWith(operation, world, open)) next.set(keyOf(reached, names), reached);
    }
    if (next.size === 0) return describeAnomaly(operation, worlds, open);
    worlds = forgetDone([...next.values()], open);
  }
  return undefined;
}

/** With what a person needs to judge it: the balances that were possible before it, and what was under way. */
function describeAnomaly(operation: Operation, worlds: readonly World[], open: ReadonlySet<Operation>): string {
  const interval = ({ fromMs, byMs }: Interval): string => `${fromMs} to ${byMs}`;
  const addsOf = (each: Operation): string => (isChange(each) ? ` ${inWords(each.adds)}` : '');
  return [
    `${operation.name}: no order of the history explains it`,
    `it happened ${interval(operation)}`,
    ...worlds.slice(0, shownMax).map(({ balances, done }) => {
      const applied = [...done].map(({ name }) => name).join(', ');
      return `possible: ${inWords(balances)}; done: ${applied}`;
    }),
    ...[...open].slice(0, shownMax).map((each) => `open: ${each.name}, ${interval(each)}${addsOf(each)}`),
  ].join('\n');
}

function inWords(balances: Balances): string {
  return [...balances].map(([account, amountMinor]) => `${account} ${amountMinor}`).join(', ');
}

/** Beginnings and ends by time. At one time beginnings are first: operations that share a moment are concurrent. */
function timelineOf(operations: readonly Operation[]): { operation: Operation; isEnd: boolean }[] {
  const moments = operations.flatMap((operation) => [
    { operation, isEnd: false, atMs: operation.fromMs },
    { operation, isEnd: true, atMs: operation.byMs },
  ]);
  return moments.toSorted((one, other) => one.atMs - other.atMs || Number(one.isEnd) - Number(other.isEnd));
}

/** The worlds that follow from this one in which the operation is done. */
function worldsWith(operation: Operation, start: World, open: ReadonlySet<Operation>): World[] {
  const found: World[] = [];
  const names = namesOf(open);
  const first = withTrueObservations(start, open);
  const visited = new Set<string>([keyOf(first, names)]);
  const waiting = [{ world: first, isUseful: true }];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { world, isUseful } = next;
    if (world.done.has(operation)) {
      found.push(world);
      continue;
    }
    // What was applied since an observation became true can as well follow the change.
    if (isChange(operation) && isUseful) found.push(withTrueObservations(withChange(world, operation), open));
    if (isChange(operation) && !awaitsObservation(world, open)) continue;
    for (const change of open) {
      if (!isChange(change) || change === operation || world.done.has(change)) continue;
      const applied = withChange(world, change);
      const after = withTrueObservations(applied, open);
      const key = keyOf(after, names);
      if (visited.has(key)) continue;
      visited.add(key);
      if (visited.size > worldsMax) throw new Error(`${operation.name}: more than ${worldsMax} orders are possible`);
      waiting.push({ world: after, isUseful: after.done.size > applied.done.size });
    }
  }
  return found;
}

function isChange(operation: Operation): operation is Change {
  return 'adds' in operation;
}

function awaitsObservation(world: World, open: ReadonlySet<Operation>): boolean {
  for (const operation of open) if (!isChange(operation) && !world.done.has(operation)) return true;
  return false;
}

function withChange({ balances, done }: World, change: Change): World {
  const changed = new Map(balances);
  for (const [account, amountMinor] of change.adds) changed.set(account, (changed.get(account) ?? 0n) + amountMinor);
  return { balances: changed, done: new Set([...done, change]) };
}

/** An observation that is true now may as well be made now: it changes nothing. */
function withTrueObservations(world: World, open: ReadonlySet<Operation>): World {
  const seen = [...open].filter(
    (operation) => !isChange(operation) && !world.done.has(operation) && operation.sees(world.balances),
  );
  return seen.length === 0 ? world : { ...world, done: new Set([...world.done, ...seen]) };
}

function namesOf(open: ReadonlySet<Operation>): ReadonlyMap<Operation, number> {
  return new Map([...open].map((operation, index) => [operation, index]));
}

function keyOf({ done }: World, names: ReadonlyMap<Operation, number>): string {
  return [...done]
    .map((operation) => names.get(operation) ?? -1)
    .toSorted((one, other) => one - other)
    .join(' ');
}

/** What is done in every world is no longer open. */
function forgetDone(worlds: readonly World[], open: Set<Operation>): readonly World[] {
  const common = [...(worlds[0]?.done ?? [])].filter((operation) => worlds.every(({ done }) => done.has(operation)));
  if (common.length === 0) return worlds;
  for (const operation of common) open.delete(operation);
  return worlds.map(({ balances, done }) => ({ balances, done: new Set([...done].filter((one) => open.has(one))) }));
}
