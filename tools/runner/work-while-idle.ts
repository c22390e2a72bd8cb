import { availableParallelism, cpus } from 'node:os';

// One more than there are processors, because tests also wait. While a fifth of the processors' time is idle all the same, as
// beside files that mostly start and stop processes, one more starts, up to a number that memory allows.
const atFirst = availableParallelism() + 1;
const atOnceMax = 2 * availableParallelism() + 2;
const enoughIdle = 0.2;
const measureEveryMs = 2_000;

/** Works on all items in order, on more of them at a time while the machine has time to spare. */
export async function workWhileIdle<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const queue = items.values();
  const errors: unknown[] = [];
  const runQueue = async () => {
    try {
      for (const item of queue) await work(item);
    } catch (error) {
      errors.push(error);
    }
  };
  const workers = Array.from({ length: atFirst }, runQueue);
  const idleShare = idleMeter();
  const timer = setInterval(() => {
    if (idleShare() > enoughIdle && workers.length < atOnceMax) workers.push(runQueue());
  }, measureEveryMs);
  // Also those that are added while it waits.
  for (const worker of workers) await worker;
  clearInterval(timer);
  if (errors.length > 0) throw errors[0];
}

/** Returns the idle share of all processors' time since the last call. */
function idleMeter(): () => number {
  let before = processorTimes();
  return () => {
    const now = processorTimes();
    const share = (now.idleMs - before.idleMs) / Math.max(1, now.allMs - before.allMs);
    before = now;
    return share;
  };
}

function processorTimes(): { idleMs: number; allMs: number } {
  let [idleMs, allMs] = [0, 0];
  for (const { times } of cpus()) {
    idleMs += times.idle;
    allMs += times.user + times.nice + times.sys + times.irq + times.idle;
  }
  return { idleMs, allMs };
}
