import { join } from 'node:path';
import { FileQueue } from './file-queue.ts';
import { groupFiles } from './groups.ts';

export interface PlannedProcess {
  queue: FileQueue;
  /** It is not worth starting when fewer files are left. */
  filesMin: number;
}

// Loading the application takes as long as five test files, and loading the browser's library as long as one that uses it.
const filesMinOfHelpers = { browser: 4, starting: 2, others: 12 };

/**
 * The processes of a run in the order of their starts, each with the queue that it takes files from. Few processes take most
 * files: at first one of each kind for every two processors. Whoever is free later helps where much is left.
 */
export function planProcesses(files: readonly string[], { directory, processors }: PlanOptions): PlannedProcess[] {
  const grouped = groupFiles(files);
  const kinds = (['browser', 'starting', 'others'] as const).map((kind) => ({
    queue: FileQueue.create(join(directory, kind), grouped[kind]),
    filesMin: filesMinOfHelpers[kind],
  }));
  const first = kinds.map(({ queue }) => ({ queue, filesMin: 1 }));
  const alone = grouped.alone.map((file, index) => ({
    queue: FileQueue.create(join(directory, `alone-${index}`), [file]),
    filesMin: 1,
  }));
  const repeat = <Item>(items: Item[], count: number) => Array.from({ length: count }, () => items).flat();
  return [...first, ...repeat(kinds, Math.floor(processors / 2) - 1), ...alone, ...repeat(kinds, processors)];
}

interface PlanOptions {
  /** Where the queues are. */
  directory: string;
  processors: number;
}
