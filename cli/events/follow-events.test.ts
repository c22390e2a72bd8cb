import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs, type Clock } from '../../server/src/kit/clock.ts';
import { firstIdAt } from '../../server/src/kit/ids.ts';
import { ApiUnavailable, type Api } from '../api/client.ts';
import { followEvents, type FollowOptions } from './follow-events.ts';

const startedAt = new Date('2026-11-20T10:00:00Z');

/** A service whose events become visible when the test says so; its time passes only while somebody sleeps. */
class FakeService {
  /** How far the clock of the machine that follows is ahead. */
  machineAheadMs = 0;
  readonly visible = new Map<string, { id: string; event: string }>();
  readonly pageSizes: number[] = [];
  readonly read = new Set<string>();
  isAway = false;
  now = startedAt;
  /** Called at each sleep, with its number. */
  onSleep: (sleeps: number) => void = () => {};
  #sleeps = 0;

  readonly clock: Clock = {
    now: () => addMs(this.now, this.machineAheadMs),
    sleep: async (ms) => {
      this.now = addMs(this.now, ms);
      this.#sleeps += 1;
      this.onSleep(this.#sleeps);
    },
  };

  readonly api = {
    get: async (_path: string, { after, limit = 10, event }: Record<string, string | number | undefined> = {}) => {
      if (this.isAway) throw new ApiUnavailable('Nothing listens.');
      const ids = [...this.visible.values()].filter((row) => event === undefined || row.event === event);
      const sorted = ids.toSorted((one, another) => one.id.localeCompare(another.id));
      const matching = after === undefined ? sorted.toReversed() : sorted.filter(({ id }) => id > String(after));
      const rows = matching.slice(0, Number(limit)).map((row) => ({
        ...row,
        created_at: startedAt.toISOString(),
        test_mode: true,
        sequence: 1,
        request_id: null,
        data: {},
        payload: {},
        object_id: row.id,
        deliveries: [],
      }));
      this.pageSizes.push(rows.length);
      for (const { id } of rows) this.read.add(id);
      const body = { data: rows };
      return { body, text: JSON.stringify(body), at: this.now };
    },
  } as unknown as Api;

  /** An event made `ms` after the start. */
  show(ms: number, event = 'charge.succeeded'): string {
    // The very first id of a moment is given to nothing.
    const id = firstIdAt(addMs(startedAt, ms)).replace(/0$/, '1');
    this.visible.set(id, { id, event });
    return id;
  }
}

/** The ids that come while the script runs, which has a step for each sleep and ends with the last one. */
async function follow(
  service: FakeService,
  steps: readonly (() => void)[],
  options: Partial<FollowOptions> = {},
): Promise<{ ids: string[]; notices: string[] }> {
  const end = new AbortController();
  const notices: string[] = [];
  service.onSleep = (sleeps) => {
    const step = steps[sleeps - 1];
    if (step) step();
    else end.abort();
  };
  const ids: string[] = [];
  const events = followEvents({
    api: service.api,
    clock: service.clock,
    signal: end.signal,
    kinds: [],
    since: 'now',
    onUnavailable: (message) => notices.push(message),
    onRecovered: () => notices.push('back'),
    ...options,
  });
  for await (const { row } of events) ids.push(row.id);
  return { ids, notices };
}

test('follow leaves out earlier events and lists each new one once, in order', async () => {
  const service = new FakeService();
  service.show(-100_000);
  service.show(-10);
  const expected: string[] = [];
  const { ids } = await follow(service, [
    () => expected.push(service.show(10), service.show(20)),
    () => {},
    () => expected.push(service.show(30)),
    () => {},
  ]);
  assert.deepEqual(ids, expected);
});

test('follow on an empty history lists the very first event', async () => {
  const service = new FakeService();
  const expected: string[] = [];
  const { ids } = await follow(service, [() => expected.push(service.show(-5_000)), () => {}]);
  assert.deepEqual(ids, expected);
});

test('an event that becomes visible up to a minute late under a smaller id is listed once', async () => {
  const service = new FakeService();
  service.show(-1_000);
  const quick: string[] = [];
  const { ids } = await follow(service, [
    () => quick.push(service.show(60_000)),
    () => quick.push(service.show(59_000)),
    () => {},
    () => quick.push(service.show(15_000)),
    ...Array.from({ length: 50 }, () => () => {}),
  ]);
  assert.deepEqual(ids, quick);
});

for (const [name, machineAheadMs] of [
  ['', 0],
  [', and this machine’s hours ahead', 2 * 3_600_000],
  [', and this machine’s hours behind', -2 * 3_600_000],
] as const) {
  test(`follow lists the events of all processes once, the clock of one minutes ahead${name}`, async () => {
    const service = new FakeService();
    service.machineAheadMs = machineAheadMs;
    const old = service.show(-50 * 60_000);
    service.show(-1_000);
    service.show(5 * 60_000);
    const [ahead, right]: [string[], string[]] = [[], []];
    const { ids } = await follow(service, [
      () => right.push(service.show(500)),
      () => ahead.push(service.show(5 * 60_000 + 10)),
      ...Array.from({ length: 50 }, () => () => {}),
      () => right.push(service.show(13_000)),
      ...Array.from({ length: 50 }, () => () => {}),
    ]);
    assert.deepEqual(ids.toSorted(), [...right, ...ahead]);
    assert.ok(!service.read.has(old), 'what is long past is not read again');
  });
}

test('follow with a start time lists every event from then on, page by page, and none before', async () => {
  const service = new FakeService();
  service.show(-1);
  const expected = Array.from({ length: 250 }, (_, index) => service.show(index));
  const { ids } = await follow(service, [() => {}], { since: startedAt });
  assert.deepEqual(ids, expected);
  assert.ok(Math.max(...service.pageSizes) <= 100);
});

test('follow lists only the given kinds', async () => {
  for (const kinds of [['customer.created'], ['customer.created', 'transfer.failed']]) {
    const service = new FakeService();
    const { ids } = await follow(
      service,
      [
        () => {
          for (const kind of ['charge.failed', 'customer.created', 'transfer.failed']) service.show(kind.length, kind);
        },
        () => {},
      ],
      { kinds },
    );
    assert.deepEqual(new Set(ids.map((id) => service.visible.get(id)?.event)), new Set(kinds));
  }
});

test('while the API is unreachable, follow waits, reports it once, and misses nothing', async () => {
  const service = new FakeService();
  const expected: string[] = [];
  const { ids, notices } = await follow(service, [
    () => {
      service.isAway = true;
    },
    () => expected.push(service.show(10)),
    () => {},
    () => {
      service.isAway = false;
    },
    () => {},
  ]);
  assert.deepEqual(ids, expected);
  assert.deepEqual(notices, ['Nothing listens.', 'back']);
});
