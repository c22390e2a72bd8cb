import { fileURLToPath } from 'node:url';
import { startLastSignal, type CrashPoint } from './crash-steps.ts';
import type { CrashRole, CrashWorld } from './crash-world.ts';
import { eventually } from './eventually.ts';
import type { ProcessWorld, TestProcess } from './process.ts';

/** What a process does when it is killed, and what must hold once other processes have finished the work. */
export interface CrashStory {
  /** Continues "a process killed …": `while it accepts a transfer`. */
  title: string;
  role: CrashRole;
  /** Runs before the process starts. `round` counts the repetitions from 0. */
  prepare?(world: CrashWorld, round: number): Promise<void>;
  /** Leads the process at `url` to its points; a worker finds its work by itself. */
  trigger?(world: CrashWorld, url: string): Promise<void>;
  /** Starts what runs besides a worker, and does what the merchant does then. */
  restart?(world: CrashWorld, point: CrashPoint): Promise<void>;
  verify(world: CrashWorld, point: CrashPoint): Promise<void>;
  /** The time that passes, by its clock, once it runs: then its purges and daily jobs are due too. Default: none. */
  runsForMs?: number;
  /** Whether a worker without a point has passed the last one. Default: nothing is left to do. */
  isDone?(world: CrashWorld): Promise<boolean>;
  /** In the long run too several of its services share a process: it has more points than an hour has time for. */
  sharesProcess?: boolean;
  /** Where it is killed: before and after each statement and call that it waits for. */
  points: readonly CrashPoint[];
  /** Points of the same path that other stories cover. */
  coveredElsewhere?: readonly CrashPoint[];
}

/** A service of a process that will be killed. */
export interface CrashVictim {
  story: CrashStory;
  /** Null: it runs through and prints its steps. */
  point: CrashPoint | null;
  world: CrashWorld;
  round: number;
}

/** What a killed process left behind. */
export interface KilledProcess {
  world: CrashWorld;
  /** Whether it was killed at its point. */
  hasReachedPoint: boolean;
  /** Everything that it waited for, when it had no point. */
  steps: string[][];
  stderr: string;
}

const crashingService = fileURLToPath(import.meta.resolve('./crashing-service.ts'));

/**
 * Starts a service on each world in one process, and kills the process once each is at its point. A service that kills the
 * process itself is the last one, and starts when the others have halted.
 */
export async function killBatch(processes: ProcessWorld, batch: readonly CrashVictim[]): Promise<KilledProcess[]> {
  await Promise.all(batch.map(async ({ story, world, round }) => story.prepare?.(world, round)));
  const victims = batch.map(({ story, world, point }) => world.victim(story.role, point, story.runsForMs));
  const victim = watch(
    processes.start([process.execPath, crashingService], { CRASH_VICTIMS: JSON.stringify(victims) }),
  );
  const hasReachedPoint = batch.map(() => false);
  // A halted service does not respond, so this ends with the process.
  const triggered: Promise<void>[] = [];
  const reach = async (one: CrashVictim, index: number): Promise<void> => {
    const triggering = one.story.trigger?.(one.world, await urlOf(victim, index)) ?? Promise.resolve();
    triggered.push(triggering);
    if (one.point === null) await triggering;
    await eventually('the service is at its point', async () => {
      hasReachedPoint[index] = await isAtPoint(one, index, victim);
      return hasReachedPoint[index] || victim.hasEnded();
    });
  };
  const haltingCount = batch.length > 1 && batch.at(-1)?.point?.killsItself ? batch.length - 1 : batch.length;
  // A service that does not reach its point fails in its own test.
  await Promise.allSettled(batch.slice(0, haltingCount).map(reach));
  if (haltingCount < batch.length) {
    victim.signal(startLastSignal);
    await Promise.allSettled(batch.slice(haltingCount).map((one) => reach(one, haltingCount)));
  }
  victim.signal('SIGKILL');
  await victim.ended;
  await Promise.all(triggered);
  return batch.map(({ world }, index) => ({
    world,
    hasReachedPoint: hasReachedPoint[index] ?? false,
    steps: [...victim.stdout().matchAll(new RegExp(`^${index} step (.+)$`, 'gm'))].map(([, steps = '']) =>
      steps.split('  '),
    ),
    stderr: victim.stderr(),
  }));
}

async function isAtPoint(
  { story, world, point }: CrashVictim,
  index: number,
  victim: WatchedProcess,
): Promise<boolean> {
  if (point !== null) return victim.hasKilledItself() || victim.stdout().includes(`${index} is there\n`);
  // A triggered service is done when it has responded.
  if (story.trigger) return true;
  return story.isDone ? story.isDone(world) : (await world.listPending()).length === 0;
}

async function urlOf(victim: TestProcess, index: number): Promise<string> {
  const [, url = ''] = await victim.printed(new RegExp(`^${index} ready at (\\S+)`, 'm'));
  return url;
}

type WatchedProcess = TestProcess & { hasEnded: () => boolean; hasKilledItself: () => boolean };

function watch(victim: TestProcess): WatchedProcess {
  let signal: NodeJS.Signals | null | undefined;
  victim.ended.then(
    (end) => {
      signal = end.signal;
    },
    () => {
      signal = null;
    },
  );
  return { ...victim, hasEnded: () => signal !== undefined, hasKilledItself: () => signal === 'SIGKILL' };
}
