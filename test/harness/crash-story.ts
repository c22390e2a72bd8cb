import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { pointTitle, unlistedSteps } from './crash-points.ts';
import type { CrashPoint } from './crash-steps.ts';
import { CrashWorld } from './crash-world.ts';
import { killBatch, type CrashStory, type KilledProcess } from './crash-batch.ts';
import { effort } from './effort.ts';
import { holdDatabases } from './borrowed-database.ts';
import { ProcessWorld } from './process.ts';

const rounds = effort({ usual: 1, long: 20 });
// Services in one process. More would be cheaper but need more connections than the tests' server has.
const sharingMax = 16;

function perProcessMax({ sharesProcess = false }: CrashStory): number {
  return sharesProcess ? sharingMax : effort({ usual: sharingMax, long: 1 });
}

/** Kills a process at each point of the story, and checks that the points cover everything it waits for. */
export function testCrashStory(story: CrashStory): void {
  const points = story.points.filter(({ long }) => effort({ usual: long !== true, long: true }));
  kills.add(story, points);
  describe(`a process killed ${story.title} loses nothing and does nothing twice`, () => {
    after(() => kills.end(story));

    test('each statement and call that it waits for has a point', async () => {
      const { steps, world } = await kills.next(story, null);
      const unlisted = unlistedSteps(steps, [...story.points, ...(story.coveredElsewhere ?? [])]);
      assert.deepEqual(unlisted, [], 'add a point for each, or for a chore its name in crash-points.ts');
      await world.close();
    });

    for (const point of points) {
      test(pointTitle(point), async () => {
        for (let round = 0; round < rounds; round += 1) await recover(story, point, await kills.next(story, point));
      });
    }
  });
}

async function recover(
  story: CrashStory,
  point: CrashPoint,
  { world, hasReachedPoint, stderr }: KilledProcess,
): Promise<void> {
  assert(hasReachedPoint, `it did not reach ${pointTitle(point)}: ${stderr}`);
  await story.restart?.(world, point);
  await world.settle();
  await story.verify(world, point);
  await world.close();
}

/** What is killed next at a point of a story; null: it runs through. */
interface PlannedKill {
  story: CrashStory;
  point: CrashPoint | null;
  round: number;
}

/** The kills of all stories of a test file: a process has services of several stories, because starting it costs the most. */
class Kills {
  #planned: PlannedKill[] = [];
  #killed: (PlannedKill & { killed: KilledProcess })[] = [];
  #worlds: CrashWorld[] = [];
  readonly #running = new Set<CrashStory>();
  #processes: ProcessWorld | undefined;
  #releaseDatabases: (() => void) | undefined;

  /** In the order of the tests. */
  add(story: CrashStory, points: readonly CrashPoint[]): void {
    this.#running.add(story);
    this.#planned.push({ story, point: null, round: 0 });
    for (const point of points) {
      for (let round = 0; round < rounds; round += 1) this.#planned.push({ story, point, round });
    }
  }

  /** The result of the next kill at this point (null: of a process that ran through). */
  async next(story: CrashStory, point: CrashPoint | null): Promise<KilledProcess> {
    const isNext = (kill: PlannedKill): boolean => kill.story === story && kill.point === point;
    if (!this.#killed.some(isNext)) await this.#kill(this.#planned.findIndex(isNext));
    const index = this.#killed.findIndex(isNext);
    const [next] = index < 0 ? [] : this.#killed.splice(index, 1);
    assert(next);
    return next.killed;
  }

  async #kill(first: number): Promise<void> {
    // The kills before it are those of tests that were filtered out.
    this.#planned.splice(0, first);
    const batch = this.#nextBatch();
    const victims = await Promise.all(batch.map(async (kill) => ({ ...kill, world: await CrashWorld.create() })));
    this.#worlds.push(...victims.map(({ world }) => world));
    this.#processes ??= new ProcessWorld();
    this.#releaseDatabases ??= holdDatabases();
    const killed = await killBatch(this.#processes, victims);
    for (const [index, kill] of batch.entries()) {
      const one = killed[index];
      if (one) this.#killed.push({ ...kill, killed: one });
    }
  }

  /** The next one and those after it that can share its process, which one at most may kill: that one is the last. */
  #nextBatch(): PlannedKill[] {
    const [first] = this.#planned;
    assert(first);
    const batchMax = perProcessMax(first.story);
    const halting: PlannedKill[] = [];
    const killing: PlannedKill[] = [];
    for (const kill of this.#planned) {
      const isFull = halting.length + killing.length === batchMax;
      if (isFull || perProcessMax(kill.story) !== batchMax) break;
      if (kill.point?.killsItself !== true) halting.push(kill);
      else if (killing.length === 0) killing.push(kill);
    }
    const batch = [...halting, ...killing];
    this.#planned = this.#planned.filter((kill) => !batch.includes(kill));
    return batch;
  }

  /** Once a story's tests have ended; with the last story nothing is left. */
  async end(story: CrashStory): Promise<void> {
    this.#running.delete(story);
    if (this.#running.size > 0) return;
    await this.#processes?.close();
    this.#processes = undefined;
    for (const world of this.#worlds) await world.close();
    this.#releaseDatabases?.();
    this.#releaseDatabases = undefined;
    [this.#planned, this.#killed, this.#worlds] = [[], [], []];
  }
}

const kills = new Kills();
