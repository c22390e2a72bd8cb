import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { Agent, request, type IncomingMessage } from 'node:http';
import { systemClock } from '../../server/src/kit/clock.ts';
import { eventually } from './eventually.ts';
import { readyAt, type Program } from './program.ts';
import { jsonOf, type ServiceWorld, type Settings } from './service-world.ts';

const secret = 'cd'.repeat(32);

/** Settings of a production server as an operator runs it, without a limit for test merchants. */
export function productionSettings(world: ServiceWorld, databaseUrl: string) {
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

/** A key of a new business's test merchant, by the operator's commands. */
export async function createTestKey(world: ServiceWorld, settings: Settings): Promise<string> {
  const created = await world.runOperatorInProcess(settings, ['businesses', 'create', 'Kairaba Books', '--json']);
  const { test } = jsonOf<{ test: { merchant_id: string } }>(created);
  const made = await world.runOperatorInProcess(settings, ['keys', 'create', '--merchant', test.merchant_id, '--json']);
  return jsonOf<{ secret_key: string }>(made).secret_key;
}

type StartService = (settings: Settings) => Program;

/** Two instances at fixed addresses, restarted one after the other as in a deployment. */
export class RollingInstances {
  readonly #starters: readonly StartService[];
  #settings: Settings;
  readonly #running: { port: number; service: Program }[] = [];
  /** From the signal to the end of the service, each time. */
  readonly exitMs: number[] = [];

  private constructor(starters: readonly StartService[], settings: Settings) {
    this.#starters = starters;
    this.#settings = settings;
  }

  /** The two functions start the instances, the first time and after each restart. */
  static async start(starters: readonly [StartService, StartService], settings: Settings): Promise<RollingInstances> {
    const instances = new RollingInstances(starters, settings);
    for (const index of starters.keys()) instances.#running.push(await instances.#startAt(index, 0));
    return instances;
  }

  get ports(): number[] {
    return this.#running.map(({ port }) => port);
  }

  get services(): Program[] {
    return this.#running.map(({ service }) => service);
  }

  /** Restarts them one after the other with other settings, each when the load balancer has seen that the one before is ready. */
  async deploy(settings: Settings, health: HealthChecks): Promise<void> {
    this.#settings = settings;
    for (const index of this.#running.keys()) {
      await eventually('all are ready', () => health.readyPorts.length === this.#running.length);
      await this.restart(index);
    }
    await eventually('all are ready', () => health.readyPorts.length === this.#running.length);
  }

  async restart(restartNumber: number): Promise<void> {
    const index = restartNumber % this.#running.length;
    const instance = this.#running[index];
    assert(instance);
    const signalledMs = performance.now();
    instance.service.stop();
    const ended = await instance.service.ended;
    this.exitMs.push(performance.now() - signalledMs);
    assert.deepEqual(ended, { code: 0, signal: null }, instance.service.stderr());
    Object.assign(instance, await this.#startAt(index, instance.port));
  }

  async #startAt(index: number, port: number): Promise<{ port: number; service: Program }> {
    const startService = this.#starters[index];
    assert(startService);
    const service = startService({ ...this.#settings, PORT: String(port) });
    return { port: Number(new URL(await readyAt(service)).port), service };
  }
}

/** The instances that are ready, as a load balancer's health checks see them. */
export class HealthChecks {
  readonly #ready = new Map<number, boolean>();
  readonly #stopped = new AbortController();
  readonly #checking: Promise<unknown>;

  constructor(ports: readonly number[], intervalMs: number) {
    for (const port of ports) this.#ready.set(port, true);
    this.#checking = Promise.all(ports.map((port) => this.#check(port, intervalMs)));
  }

  get readyPorts(): number[] {
    return [...this.#ready].filter(([, isReady]) => isReady).map(([port]) => port);
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#checking;
  }

  async #check(port: number, intervalMs: number): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      const pending = fetch(`http://127.0.0.1:${port}/readyz`, { headers: { connection: 'close' } });
      const response = await pending.catch(() => undefined);
      await response?.arrayBuffer();
      this.#ready.set(port, response?.status === 200);
      await systemClock.sleep(intervalMs, this.#stopped.signal).catch(() => {});
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
  /** Whether each creation has an `Idempotency-Key`, under which its response is stored. */
  withKeys?: boolean;
}

/** Clients with keep-alive connections that create and read payments; records every request that fails. */
export class Load {
  readonly #options: LoadOptions;
  readonly #stopped = new AbortController();
  readonly #running: Promise<unknown>;
  succeeded = 0;
  created: string[] = [];
  /** The responses by `Idempotency-Key`. */
  readonly responses = new Map<string, string>();
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
    const intervalMs = (1_000 * this.#options.clients) / this.#options.requestsPerSecond;
    while (!this.#stopped.signal.aborted) {
      const dueMs = performance.now() + intervalMs;
      const id = this.created.at(-1);
      if (id === undefined || this.succeeded % 2 === 0) await this.#create(agent);
      else await this.#count(sendOnce(agent, this.#target(), { method: 'GET', path: `/v1/payments/${id}` }), 200);
      await systemClock.sleep(Math.max(0, dueMs - performance.now()));
    }
    agent.destroy();
  }

  async #create(agent: Agent): Promise<void> {
    const body = JSON.stringify({ data: { amount: 100 } });
    const key = this.#options.withKeys === true ? randomUUID() : undefined;
    const text = await this.#count(
      sendOnce(agent, this.#target(key), { method: 'POST', path: '/v1/payments', body }),
      201,
    );
    if (text === undefined) return;
    if (key !== undefined) this.responses.set(key, text);
    this.created.push((JSON.parse(text) as { payment_intent_id: string }).payment_intent_id);
  }

  #target(idempotencyKey?: string): Target {
    const { key, headers = {}, nextPort } = this.#options;
    const ofCreation = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return { port: nextPort(), headers: { ...headers, ...ofCreation, authorization: `Bearer ${key}` } };
  }

  async #count(pending: Promise<{ status: number; text: string }>, expected: number): Promise<string | undefined> {
    try {
      const { status, text } = await pending;
      if (status === expected) {
        this.succeeded += 1;
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

/** Sends once, without a retry: a connection that ends before the response is a lost request. */
function sendOnce(
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
