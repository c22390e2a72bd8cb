/** Opens one page at a steady rate, and times each until its first byte. */
import { Pool } from 'undici';
import { atRate } from './harness/load-rate.ts';
import { printResult, programOptions } from './harness/program.ts';
import { latenciesOf, type Latencies } from './harness/statistics.ts';

export interface PageLoadOptions {
  url: string;
  path: string;
  opensPerSecond: number;
  seconds: number;
}

/** Latencies are those until the first byte. */
export interface PageLoadResult extends Latencies {
  openedPerSecond: number;
  failures: number;
}

const connections = 64;

async function pageLoad({ url, path, opensPerSecond, seconds }: PageLoadOptions): Promise<PageLoadResult> {
  const http = new Pool(url, { connections, pipelining: 1 });
  const durationsMs: number[] = [];
  let failures = 0;
  const beganAt = performance.now();
  await atRate({ perSecond: opensPerSecond, seconds, concurrencyMax: connections }, async (dueAt) => {
    const { statusCode, body } = await http.request({ method: 'GET', path, headers: { accept: 'text/html' } });
    durationsMs.push(performance.now() - dueAt);
    if (statusCode !== 200) failures += 1;
    await body.dump();
  });
  const openedPerSecond = durationsMs.length / ((performance.now() - beganAt) / 1_000);
  await http.destroy();
  return { ...latenciesOf(durationsMs), openedPerSecond, failures };
}

printResult(await pageLoad(programOptions<PageLoadOptions>()));
