/**
 * Starts the work on all items in their order, at most so many at a time, and answers a promise for each at once, so
 * that results can be shown in the order of the items while later ones are under way.
 */
export function startLimited<Item, Result>(
  items: readonly Item[],
  concurrencyMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result>[] {
  const places = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
  const queue = places.values();
  const takeTurns = async () => {
    for (const { item, resolve, reject } of queue) await work(item).then(resolve, reject);
  };
  for (let worker = 0; worker < concurrencyMax; worker += 1) void takeTurns();
  return places.map(({ promise }) => promise);
}
