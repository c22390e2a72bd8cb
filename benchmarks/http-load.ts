/**
 * The same request over and over on some connections for some seconds: the load of the benchmarks, in a process of its
 * own.
 */
import autocannon from 'autocannon';
import { answerProgram, programOptions } from './harness/program.ts';
import { latenciesOf } from './harness/statistics.ts';
import type { Latencies } from './harness/statistics.ts';

export interface HttpLoadOptions {
  url: string;
  path: string;
  key: string;
  /** Absent: a GET. */
  body?: string;
  connections: number;
  seconds: number;
}

export interface HttpLoadResult extends Latencies {
  requestsPerSecond: number;
  answered: number;
  failures: number;
}

async function load(options: HttpLoadOptions): Promise<HttpLoadResult> {
  const durationsMs: number[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const running = autocannon(
    {
      url: options.url + options.path,
      connections: options.connections,
      duration: options.seconds,
      headers: { authorization: `Bearer ${options.key}`, 'content-type': 'application/json' },
      ...(options.body === undefined ? {} : { method: 'POST', body: options.body }),
    },
    (error: Error | null, done: autocannon.Result) => (error ? reject(error) : resolve(done)),
  );
  running.on('response', (_client, _status, _bytes, durationMs) => durationsMs.push(durationMs));
  const result = await promise;
  return {
    ...latenciesOf(durationsMs),
    requestsPerSecond: result['2xx'] / result.duration,
    answered: result['2xx'],
    failures: result.non2xx + result.errors,
  };
}

answerProgram(await load(programOptions<HttpLoadOptions>()));
