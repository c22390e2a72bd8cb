import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { systemClock } from '../../server/src/kit/clock.ts';
import { readyAt } from './process.ts';
import type { ProcessWorld, TestProcess } from './process.ts';

const secret = 'cd'.repeat(32);

/** Of a production server as an operator runs it, without a limit for test merchants. */
export function productionSettings(world: ProcessWorld, databaseUrl: string) {
  return {
    APP_ENV: 'production',
    DATABASE_URL: databaseUrl,
    SEAL_KEY: secret,
    KEY_PEPPER: secret,
    HOST: '127.0.0.1',
    PUBLIC_URL: 'https://pay.example.gm',
    DATA_DIR: world.newDataDirectory(),
    RATE_LIMIT_TEST: '0',
  };
}

/** Of a new business's test merchant, by the operator's commands. */
export async function createTestKey(world: ProcessWorld, settings: Readonly<Record<string, string>>): Promise<string> {
  const created = await world.runOperator(settings, ['businesses', 'create', 'Kairaba Books', '--json']);
  const { test } = JSON.parse(created.stdout) as { test: { merchant_id: string } };
  const made = await world.runOperator(settings, ['keys', 'create', '--merchant', test.merchant_id, '--json']);
  return (JSON.parse(made.stdout) as { secret_key: string }).secret_key;
}

/** Two instances at addresses that stay, restarted one after another as a deployment does. */
export class RollingInstances {
  readonly #world: ProcessWorld;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #running: { port: number; process: TestProcess }[] = [];
  /** From the signal to the end of the process, each time. */
  readonly exitMs: number[] = [];

  private constructor(world: ProcessWorld, settings: Readonly<Record<string, string>>) {
    this.#world = world;
    this.#settings = settings;
  }

  static async start(world: ProcessWorld, settings: Readonly<Record<string, string>>): Promise<RollingInstances> {
    const instances = new RollingInstances(world, settings);
    for (const port of [0, 0]) instances.#running.push(await instances.#startAt(port));
    return instances;
  }

  get ports(): number[] {
    return this.#running.map(({ port }) => port);
  }

  get processes(): TestProcess[] {
    return this.#running.map(({ process }) => process);
  }

  async restart(place: number): Promise<void> {
    const instance = this.#running[place % this.#running.length];
    assert(instance);
    const signalledMs = performance.now();
    instance.process.signal('SIGTERM');
    const ended = await instance.process.ended;
    this.exitMs.push(performance.now() - signalledMs);
    assert.deepEqual(ended, { code: 0, signal: null }, instance.process.stderr());
    Object.assign(instance, await this.#startAt(instance.port));
  }

  async #startAt(port: number): Promise<{ port: number; process: TestProcess }> {
    const process = this.#world.startService({ ...this.#settings, PORT: String(port) });
    return { port: Number(new URL(await readyAt(process)).port), process };
  }
}

/** Which instances requests may go to, as a load balancer with health checks knows it. */
export class HealthChecks {
  readonly #ready = new Map<number, boolean>();
  readonly #stopped = new AbortController();
  readonly #checking: Promise<unknown>;

  constructor(ports: readonly number[], everyMs: number) {
    for (const port of ports) this.#ready.set(port, true);
    this.#checking = Promise.all(ports.map((port) => this.#check(port, everyMs)));
  }

  get readyPorts(): number[] {
    return [...this.#ready].filter(([, isReady]) => isReady).map(([port]) => port);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#checking;
  }

  async #check(port: number, everyMs: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const asked = fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
      const answer = await asked.catch(() => undefined);
      await answer?.arrayBuffer();
      this.#ready.set(port, answer?.status === 200);
      await systemClock.sleep(everyMs, this.#stopped.signal).catch(() => {});
    }
  }
}

interface LoadOptions {
  clients: number;
  /** Of all clients together. */
  requestsPerSecond: number;
  key: string;
  /** Sent with each request; a proxy finds its site by `host`. */
  headers?: Readonly<Record<string, string>>;
  /** Where the next request goes. */
  nextPort: () => number;
}

/** Clients with connections that they keep, which create payments and read them: every request has to be answered. */
export class Load {
  readonly #options: LoadOptions;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;
  answered = 0;
  created: string[] = [];
  failures: string[] = [];

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#running = Promise.all(Array.from({ length: options.clients }, () => this.#runClient()));
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#running;
  }

  async #runClient(): Promise<void> {
    const agent = new Agent({ keepAlive: true });
    const everyMs = (1_000 * this.#options.clients) / this.#options.requestsPerSecond;
    while (!this.#stopped.signal.aborted) {
      const dueMs = performance.now() + everyMs;
      const id = this.created.at(-1);
      if (id === undefined || this.answered % 2 === 0) await this.#create(agent);
      else await this.#count(ask(agent, this.#target(), { method: 'GET', path: `/v1/payments/${id}` }), 200);
      await systemClock.sleep(Math.max(0, dueMs - performance.now()));
    }
    agent.destroy();
  }

  async #create(agent: Agent): Promise<void> {
    const body = JSON.stringify({ data: { amount: 100 } });
    const text = await this.#count(ask(agent, this.#target(), { method: 'POST', path: '/v1/payments', body }), 201);
    if (text === undefined) return;
    this.created.push((JSON.parse(text) as { payment_intent_id: string }).payment_intent_id);
  }

  #target(): Target {
    const { key, headers = {}, nextPort } = this.#options;
    return { port: nextPort(), headers: { ...headers, authorization: `Bearer ${key}` } };
  }

  async #count(asked: Promise<{ status: number; text: string }>, expected: number): Promise<string | undefined> {
    try {
      const { status, text } = await asked;
      if (status === expected) {
        this.answered += 1;
        return text;
      }
      this.failures.push(`${status} ${text.slice(0, 200)}`);
    } catch (error) {
      this.failures.push(String(error));
    }
    return undefined;
  }
}

interface Target {
  port: number;
  headers: Record<string, string>;
}

/** Nothing is sent twice: a connection that ends before its answer is a request that is lost. */
function ask(
  agent: Agent,
  { port, headers }: Target,
  { method, path, body }: { method: string; path: string; body?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const entity = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length };
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers: { ...headers, ...entity } });
    sent.once('error', reject).once('response', (response: IncomingMessage) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('error', reject).once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.end(body);
  });
}
