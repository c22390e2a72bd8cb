/**
 * The load of the benchmarks, in its own process: the same request again and again on some connections for some
 * seconds.
 */
import autocannon from 'autocannon';
import { printResult, programOptions } from './harness/program.ts';
import { latenciesOf, type Latencies } from './harness/statistics.ts';

export interface HttpLoadOptions {
  url: string;
  path: string;
  /** One for all connections, or several, assigned to them in rotation. */
  key: string | string[];
  /** Absent: a GET. */
  body?: string;
  /** Each request has a new Idempotency-Key. */
  idempotent?: boolean;
  connections: number;
  seconds: number;
}

export interface HttpLoadResult extends Latencies {
  requestsPerSecond: number;
  responses: number;
  failures: number;
}

async function load(options: HttpLoadOptions): Promise<HttpLoadResult> {
  const { idempotent = false } = options;
  const keys = [options.key].flat();
  const durationsMs: number[] = [];
  let clients = 0;
  const { promise, resolve, reject } = Promise.withResolvers<autocannon.Result>();
  const running = autocannon(
    {
      url: options.url + options.path,
      connections: options.connections,
      duration: options.seconds,
      headers: { 'content-type': 'application/json', ...(idempotent && { 'idempotency-key': '[<id>]' }) },
      idReplacement: idempotent,
      setupClient: (client) => {
        client.setHeaders({ authorization: `Bearer ${keys[clients % keys.length]}` });
        clients += 1;
      },
      ...(options.body === undefined ? {} : { method: 'POST', body: options.body }),
    },
    (error: Error | null, done: autocannon.Result) => (error ? reject(error) : resolve(done)),
  );
  running.on('response', (_client, _status, _bytes, durationMs) => durationsMs.push(durationMs));
  const result = await promise;
  return {
    ...latenciesOf(durationsMs),
    requestsPerSecond: result['2xx'] / result.duration,
    responses: result['2xx'],
    failures: result.non2xx + result.errors,
  };
}

printResult(await load(programOptions<HttpLoadOptions>()));
