import type { HttpLoadOptions, HttpLoadResult } from './http-load.ts';
import { creationBody } from './harness/creation-statements.ts';
import { sampleMemory } from './harness/memory-samples.ts';
import { failureFigure, type Part } from './harness/part.ts';
import { residentMib } from './harness/process-figures.ts';
import { runProgram } from './harness/program.ts';
import type { Service } from './harness/service.ts';
import { median, whole } from './harness/statistics.ts';
import { pay } from './whole.ts';

const seconds = 25;
const connections = 32;
const memoryMaxMib = 250;

export const memory: Part = {
  name: 'memory',
  title: 'Memory of the service under load',
  description:
    `The resident memory of the service process (the database is another) during ${seconds} s of creations on ` +
    `${connections} connections, lists on 4 and whole payments, ${connections} at once, all at the same time.`,
  async run(bench) {
    const service = await bench.startService();
    const idleMib = residentMib(service.pid);
    const sampling = sampleMemory(service.pid);
    const results = await Promise.all([
      load(service, { path: '/v1/payments', body: creationBody, connections }),
      load(service, { path: '/v1/payments?limit=100', connections: 4 }),
      pay(service, { payers: connections, seconds }),
    ]);
    const samplesMib = await sampling.stop();
    await service.stop();
    const peakMib = Math.max(...samplesMib);
    const failures = results.reduce((sum, result) => sum + result.failures, 0);
    bench.log(`  at most ${whole(peakMib)} MiB`);
    return {
      figures: [
        { label: 'After the start', value: `${whole(idleMib)} MiB` },
        { label: 'Under load, median', value: `${whole(median(samplesMib))} MiB` },
        {
          label: 'Under load, highest',
          value: `${whole(peakMib)} MiB`,
          aim: { text: `at most ${memoryMaxMib} MiB`, isMet: peakMib <= memoryMaxMib },
        },
        failureFigure('Requests that failed', failures),
      ],
      bars: [{ label: 'memory under load', value: peakMib, aim: memoryMaxMib, better: 'lower', unit: 'MiB' }],
    };
  },
};

function load({ url, key }: Service, request: Pick<HttpLoadOptions, 'path' | 'body' | 'connections'>) {
  const options: HttpLoadOptions = { url, key, ...request, seconds };
  return runProgram<HttpLoadResult>('http-load.ts', options);
}
