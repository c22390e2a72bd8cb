import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { pointTitle, unlistedSteps } from './crash-points.ts';
import type { CrashPoint } from './crash-steps.ts';
import { CrashWorld } from './crash-world.ts';
import { killBatch } from './crash-batch.ts';
import type { CrashStory, KilledProcess } from './crash-batch.ts';
import { effort } from './effort.ts';
import { ProcessWorld } from './process.ts';

const rounds = effort({ usual: 1, long: 20 });
// Services in one process. More would be cheaper but need more connections than the tests' server has.
const sharingMax = 16;

function perProcessMax({ sharesProcess = false }: CrashStory): number {
  return sharesProcess ? sharingMax : effort({ usual: sharingMax, long: 1 });
}

/** Kills a process at each point of the story, and checks that the points cover everything it waits for. */
export function testCrashStory(story: CrashStory): void {
  const points = inBatches(
    perProcessMax(story),
    story.points.filter(({ long }) => effort({ usual: long !== true, long: true })),
  );
  describe(`a process killed ${story.title} loses nothing and does nothing twice`, () => {
    const kills = new Kills(story, points);
    before(() => kills.begin());
    after(() => kills.end());

    test('each statement and call that it waits for has a point', async () => {
      const { steps } = await kills.next(null);
      const unlisted = unlistedSteps(steps, [...story.points, ...(story.coveredElsewhere ?? [])]);
      assert.deepEqual(unlisted, [], 'add a point for each, or for a chore its name in crash-points.ts');
    });

    for (const point of points) {
      test(pointTitle(point), async () => {
        for (let round = 0; round < rounds; round += 1) await recover(story, point, await kills.next(point));
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

/** Orders the points so that those at which a service kills its process stand at the ends of full batches. */
function inBatches(batchMax: number, points: readonly CrashPoint[]): CrashPoint[] {
  const killing = points.filter(({ killsItself }) => killsItself === true);
  const halting = points.filter(({ killsItself }) => killsItself !== true);
  const ordered: CrashPoint[] = [];
  // The first batch also has the process that runs through.
  for (let count = batchMax - 2; killing.length > 0; count = batchMax - 1) {
    ordered.push(...halting.splice(0, Math.max(0, count)), ...killing.splice(0, 1));
  }
  return [...ordered, ...halting];
}

/** The kills of one story in the order of its tests, several services to a process. */
class Kills {
  readonly #story: CrashStory;
  readonly #points: (CrashPoint | null)[];
  #processes: ProcessWorld | undefined;
  #killed: { point: CrashPoint | null; killed: KilledProcess }[] = [];
  readonly #worlds: CrashWorld[] = [];

  constructor(story: CrashStory, points: readonly CrashPoint[]) {
    this.#story = story;
    this.#points = [null, ...points.flatMap((point) => Array.from({ length: rounds }, () => point))];
  }

  begin(): void {
    this.#processes = new ProcessWorld();
  }

  /** The result of the next kill at this point (null: of a process that ran through). */
  async next(point: CrashPoint | null): Promise<KilledProcess> {
    // Skips the kills of tests that were filtered out.
    while (this.#killed[0] && this.#killed[0].point !== point) this.#killed.shift();
    if (this.#killed.length === 0) await this.#kill(point);
    const next = this.#killed.shift();
    assert(next);
    return next.killed;
  }

  async #kill(first: CrashPoint | null): Promise<void> {
    this.#points.splice(0, this.#points.indexOf(first));
    const points = this.#nextBatch();
    const worlds = await Promise.all(points.map(() => CrashWorld.create()));
    this.#worlds.push(...worlds);
    assert(this.#processes);
    const round = rounds - 1 - this.#points.filter((point) => point === first).length;
    const killed = await killBatch(this.#story, this.#processes, { points, worlds, round });
    this.#killed = killed.map((one, index) => ({ point: points[index] ?? null, killed: one }));
  }

  /** The next points that can share a process, which one at most may kill. */
  #nextBatch(): (CrashPoint | null)[] {
    const batchMax = perProcessMax(this.#story);
    const last = this.#points.slice(0, batchMax).findIndex((point) => point?.killsItself === true);
    return this.#points.splice(0, last < 0 ? batchMax : last + 1);
  }

  async end(): Promise<void> {
    await this.#processes?.close();
    for (const world of this.#worlds) await world.close();
  }
}
