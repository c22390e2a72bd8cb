import type { Part } from './harness/part.ts';
import { residentMib } from './harness/process-figures.ts';
import type { Service } from './harness/service.ts';
import { inMs, median, whole } from './harness/statistics.ts';

const count = 200;
const firstMaxMs = 1_000;
const laterMaxMs = 300;
// After these the thread is warm, and the cache of finished posters is full.
const settledAfter = 110;
const growthMaxMib = 10;

export const posters: Part = {
  name: 'posters',
  title: 'Posters of counters',
  description:
    `${count} posters (PNG, 1440 × 2340) of different counters, one after the other, over HTTP: from the request to ` +
    'the last byte. The memory is that of the whole service process with the thread that draws.',
  async run(bench) {
    const service = await bench.startService();
    const ids = await createTerminals(service);
    const elapsedMs: number[] = [];
    const memoryMib: number[] = [];
    for (const id of ids) {
      elapsedMs.push(await download(service, id));
      memoryMib.push(residentMib(service.pid));
    }
    await service.stop();
    const [firstMs = 0, ...laterMs] = elapsedMs;
    const third = Math.floor((count - settledAfter) / 3);
    const earlyMib = median(memoryMib.slice(settledAfter, settledAfter + third));
    const growthMib = median(memoryMib.slice(-third)) - earlyMib;
    bench.log(`  first ${inMs(firstMs)}, later ${inMs(median(laterMs))}, at most ${whole(Math.max(...memoryMib))} MiB`);
    return {
      figures: [
        figure('The first poster', firstMs, firstMaxMs),
        figure('A later one, median', median(laterMs), laterMaxMs),
        { label: 'Memory, highest', value: `${whole(Math.max(...memoryMib))} MiB` },
        {
          label: `Memory, last third against first after ${settledAfter}`,
          value: `${growthMib < 0 ? '−' : '+'}${whole(Math.abs(growthMib))} MiB`,
          aim: { text: `at most +${growthMaxMib} MiB`, isMet: growthMib <= growthMaxMib },
        },
      ],
      bars: [
        { label: 'first poster', value: firstMs, aim: firstMaxMs, better: 'lower', unit: 'ms' },
        { label: 'later poster', value: median(laterMs), aim: laterMaxMs, better: 'lower', unit: 'ms' },
      ],
    };
  },
};

function figure(label: string, elapsedMs: number, maxMs: number) {
  return { label, value: inMs(elapsedMs), aim: { text: `under ${whole(maxMs)} ms`, isMet: elapsedMs < maxMs } };
}

async function createTerminals(service: Service): Promise<string[]> {
  const ids: string[] = [];
  for (let number = 1; number <= count; number += 1) {
    const fields = { name: `Counter ${number}, ground floor`, chat_numbers: ['7012345'] };
    ids.push((await service.post<{ id: string }>('/v1/virtual-terminals', fields)).id);
  }
  return ids;
}

async function download({ url, key }: Service, id: string): Promise<number> {
  const startedAt = performance.now();
  const path = `/v1/virtual-terminals/download/${id}`;
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`GET ${path} returned ${response.status}`);
  return performance.now() - startedAt;
}
