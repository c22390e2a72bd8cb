import type { Part } from './harness/part.ts';
import { residentMib } from './harness/process-figures.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, percentile, whole } from './harness/statistics.ts';
import { systemClock } from '../server/src/kit/clock.ts';

const count = 200;
const firstMaxMs = 1_000;
const laterMaxMs = 300;
// After these the thread has everything it needs, and what is kept of finished posters is full.
const settledAfter = 110;
const growthMaxMib = 10;
const quietMs = 3_000;
const everyMs = 20;

export const posters: Part = {
  name: 'posters',
  title: 'Posters of counters',
  meaning:
    `${count} posters (PNG, 1440 × 2340) of different counters, one after the other, over HTTP: from the request to ` +
    'the last byte. The memory is that of the whole service process with the thread that draws. Meanwhile another client ' +
    `asks for a counter’s record every ${everyMs} ms, as it did before in quiet.`,
  async run(bench) {
    const service = await bench.startService();
    const ids = await createTerminals(service);
    const atStartMib = residentMib(service.pid);
    const quietMsEach = await keepAsking(service, ids[0] ?? '', AbortSignal.timeout(quietMs));
    const ended = new AbortController();
    const asking = keepAsking(service, ids[0] ?? '', ended.signal);
    const tookMs: number[] = [];
    const memoryMib: number[] = [];
    for (const id of ids) {
      tookMs.push(await download(service, id));
      memoryMib.push(residentMib(service.pid));
    }
    ended.abort();
    const busyMsEach = await asking;
    await service.stop();
    const [firstMs = 0, ...laterMs] = tookMs;
    const third = Math.floor((count - settledAfter) / 3);
    const earlyMib = median(memoryMib.slice(settledAfter, settledAfter + third));
    const growthMib = median(memoryMib.slice(-third)) - earlyMib;
    bench.tell(
      `  first ${inMs(firstMs)}, later ${inMs(median(laterMs))}, at most ${whole(Math.max(...memoryMib))} MiB`,
    );
    return {
      figures: [
        figure('The first poster', firstMs, firstMaxMs),
        figure('A later one, median', median(laterMs), laterMaxMs),
        { label: 'A later one, p95', value: inMs(percentile(laterMs, 95)) },
        { label: 'Memory before the first', value: `${whole(atStartMib)} MiB` },
        { label: 'Memory, highest', value: `${whole(Math.max(...memoryMib))} MiB` },
        {
          label: `Memory, last third against first after ${settledAfter}`,
          value: `${growthMib < 0 ? '−' : '+'}${whole(Math.abs(growthMib))} MiB`,
          aim: { text: `at most +${growthMaxMib} MiB`, isMet: growthMib <= growthMaxMib },
        },
        { label: 'Another request, p50 and p95, in quiet', value: both(quietMsEach) },
        { label: 'The same while posters are drawn', value: both(busyMsEach) },
      ],
      bars: [
        { label: 'first poster', value: firstMs, aim: firstMaxMs, better: 'lower', unit: 'ms' },
        { label: 'later poster', value: median(laterMs), aim: laterMaxMs, better: 'lower', unit: 'ms' },
      ],
    };
  },
};

function figure(label: string, tookMs: number, maxMs: number) {
  return { label, value: inMs(tookMs), aim: { text: `under ${whole(maxMs)} ms`, isMet: tookMs < maxMs } };
}

function both(durationsMs: readonly number[]): string {
  return `${inMs(median(durationsMs))}, ${inMs(percentile(durationsMs, 95))}`;
}

async function createTerminals(service: Service): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const fields = { name: `Counter ${number}, ground floor`, chat_numbers: ['7012345'] };
    ids.push((await service.post<{ id: string }>('/v1/virtual-terminals', fields)).id);
  }
  return ids;
}

async function download(service: Service, id: string): Promise<number> {
  return timed(service, `/v1/virtual-terminals/download/${id}`);
}

async function keepAsking(service: Service, id: string, ended: AbortSignal): Promise<number[]> {
  const tookMs: number[] = [];
  while (!ended.aborted) {
    tookMs.push(await timed(service, `/v1/virtual-terminals/${id}`));
    await systemClock.sleep(everyMs, ended);
  }
  return tookMs;
}

async function timed({ url, key }: Service, path: string): Promise<number> {
  const from = performance.now();
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`GET ${path} was answered with ${answer.status}`);
  return performance.now() - from;
}
