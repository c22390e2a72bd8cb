/**
 * Works on all items in order, at most `concurrencyMax` at a time. Returns a promise for each at once, so that results can be
 * shown in the order of the items while later ones are under way.
 */
export function startLimited<Item, Result>(
  items: readonly Item[],
  concurrencyMax: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result>[] {
  const tasks = items.map((item) => ({ item, ...Promise.withResolvers<Result>() }));
  const queue = tasks.values();
  const runQueue = async () => {
    for (const { item, resolve, reject } of queue) await work(item).then(resolve, reject);
  };
  for (let worker = 0; worker < concurrencyMax; worker += 1) void runQueue();
  return tasks.map(({ promise }) => promise);
}
