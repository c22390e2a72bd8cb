import { fileURLToPath } from 'node:url';
import type { CrashPoint } from './crash-steps.ts';
import type { CrashStory } from './crash-story.ts';
import type { CrashWorld } from './crash-world.ts';
import { waitUntil } from './process.ts';
import type { ProcessWorld, TestProcess } from './process.ts';

/** What a process left behind that was killed. */
export interface Killed {
  world: CrashWorld;
  /** Whether it had come to its point. */
  hasCome: boolean;
  /** What it had waited for, when it had no point. */
  steps: string[][];
  stderr: string;
}

const crashingService = fileURLToPath(import.meta.resolve('./crashing-service.ts'));

/** Starts a service on each world in one process, and kills it when each has come to its point. */
export async function killTogether(
  story: CrashStory,
  processes: ProcessWorld,
  { points, worlds, round }: { points: readonly (CrashPoint | null)[]; worlds: readonly CrashWorld[]; round: number },
): Promise<Killed[]> {
  await Promise.all(worlds.map((world) => story.prepare?.(world, round)));
  const victims = worlds.map((world, index) => world.victim(story.role, points[index] ?? null));
  const victim = processes.start([process.execPath, crashingService], { CRASH_VICTIMS: JSON.stringify(victims) });
  const watched = watch(victim);
  const hasCome = worlds.map(() => false);
  const come = worlds.map(async (world, index) => {
    await story.provoke?.(world, await urlOf(watched, index));
    await waitUntil('it comes to its point', async () => {
      hasCome[index] = await isThere(story, { world, point: points[index] ?? null, index }, watched);
      return hasCome[index] || watched.hasEnded();
    });
  });
  // Whichever does not come fails in its own test.
  await Promise.allSettled(come);
  watched.signal('SIGKILL');
  await watched.ended;
  return worlds.map((world, index) => ({
    world,
    hasCome: hasCome[index] ?? false,
    steps: [...watched.stdout().matchAll(new RegExp(`^${index} step (.+)$`, 'gm'))].map(([, steps = '']) =>
      steps.split('  '),
    ),
    stderr: watched.stderr(),
  }));
}

async function isThere(
  story: CrashStory,
  { world, point, index }: { world: CrashWorld; point: CrashPoint | null; index: number },
  victim: WatchedProcess,
): Promise<boolean> {
  if (point !== null) return victim.hasKilledItself() || victim.stdout().includes(`${index} is there\n`);
  // Whoever is provoked has come to its last point with the answer.
  if (story.provoke) return true;
  return story.isDone ? story.isDone(world) : (await world.whatIsLeft()).length === 0;
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
