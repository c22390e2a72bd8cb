import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pointTitle, unlistedSteps } from './crash-points.ts';
import type { CrashPoint } from './crash-steps.ts';
import { CrashWorld } from './crash-world.ts';
import type { CrashRole } from './crash-world.ts';
import { effort } from './effort.ts';
import { ProcessWorld, waitUntil } from './process.ts';
import type { TestProcess } from './process.ts';

/** What a process is doing when it dies, and what must be so when others have ended it. */
export interface CrashStory {
  /** Goes on from "a process that is killed": `while it accepts a transfer`. */
  title: string;
  role: CrashRole;
  /** Everything before the process starts. `round` counts the repetitions from 0. */
  prepare?(world: CrashWorld, round: number): Promise<void>;
  /** Makes the process at `url` come to its points; a worker finds its work by itself. */
  provoke?(world: CrashWorld, url: string): Promise<void>;
  /** What is started again besides a worker, and what the merchant does then. */
  restart?(world: CrashWorld, point: CrashPoint): Promise<void>;
  verify(world: CrashWorld, point: CrashPoint): Promise<void>;
  /** When a worker that nobody kills has come to its last point. Otherwise it is waited for until nothing is left to do. */
  isDone?(world: CrashWorld): Promise<boolean>;
  /** Where it dies: before and after everything that it waits for. */
  points: readonly CrashPoint[];
  /** Points of the same path that other stories have. */
  elsewhere?: readonly CrashPoint[];
}

const rounds = effort({ usual: 1, long: 20 });
// One waits for its process to start while the other works; more have only made each other slower.
const concurrency = 2;

/** Kills a process at each point of the story, and checks that the list of points has everything it waits for. */
export function testCrashStory(story: CrashStory): void {
  const points = effort({ usual: story.points.filter(({ long }) => long !== true), long: story.points });
  describe(`a process that is killed ${story.title} loses nothing and does nothing twice`, { concurrency }, () => {
    let processes: ProcessWorld;
    before(() => {
      processes = new ProcessWorld();
    });
    after(() => processes.close());

    test('whatever it waits for on the way is among the points', async () => {
      const unlisted = unlistedSteps(await traceSteps(story, processes), [...story.points, ...(story.elsewhere ?? [])]);
      assert.deepEqual(unlisted, [], 'each needs a point, or is a chore, which crash-points.ts names');
    });

    for (const point of points) {
      test(pointTitle(point), async () => {
        for (let round = 0; round < rounds; round += 1) await crash(story, processes, { point, round });
      });
    }
  });
}

async function crash(
  story: CrashStory,
  processes: ProcessWorld,
  { point, round }: { point: CrashPoint; round: number },
): Promise<void> {
  const world = await CrashWorld.create();
  try {
    await story.prepare?.(world, round);
    const victim = watch(world.spawn(processes, story.role, point));
    world.whenClosing(() => end(victim));
    if (story.provoke) await story.provoke(world, await urlOf(victim));
    await waitUntil(`it comes to ${pointTitle(point)}`, victim.hasEnded);
    assert.deepEqual(await victim.ended, { code: null, signal: 'SIGKILL' }, victim.stderr());
    await story.restart?.(world, point);
    await world.settle();
    await story.verify(world, point);
  } finally {
    await world.close();
  }
}

/** The steps of a process that nobody kills. */
async function traceSteps(story: CrashStory, processes: ProcessWorld): Promise<string[][]> {
  const world = await CrashWorld.create();
  try {
    await story.prepare?.(world, 0);
    const survivor = watch(world.spawn(processes, story.role, null));
    world.whenClosing(() => end(survivor));
    if (story.provoke) await story.provoke(world, await urlOf(survivor));
    else await waitUntil('everything is done', () => isDone(story, world, survivor));
    await end(survivor);
    return [...survivor.stdout().matchAll(/^step (.+)$/gm)].map(([, steps = '']) => steps.split('  '));
  } finally {
    await world.close();
  }
}

async function isDone(story: CrashStory, world: CrashWorld, survivor: WatchedProcess): Promise<boolean> {
  assert(!survivor.hasEnded(), survivor.stderr());
  return story.isDone ? story.isDone(world) : (await world.whatIsLeft()).length === 0;
}

async function urlOf(process: TestProcess): Promise<string> {
  const [, url = ''] = await process.printed(/^Ready at (\S+)/m);
  return url;
}

/** One that a test has given up on keeps its database from being removed, which would hide why. */
async function end(process: WatchedProcess): Promise<void> {
  process.signal('SIGKILL');
  await process.ended;
}

type WatchedProcess = TestProcess & { hasEnded: () => boolean };

function watch(process: TestProcess): WatchedProcess {
  let hasEnded = false;
  const note = (): void => {
    hasEnded = true;
  };
  process.ended.then(note, note);
  return { ...process, hasEnded: () => hasEnded };
}
