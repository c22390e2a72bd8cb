import assert from 'node:assert/strict';
import { addMs } from '../../server/src/kit/clock.ts';
import { setFeeRule, setLimit } from '../../server/src/merchants/manage-rules.ts';
import { createApiClient } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { startCallbackReceiver } from './callback-receiver.ts';
import type { CallbackReceiver } from './callback-receiver.ts';
import { CrashClock } from './crash-clock.ts';
import { startCrashFront } from './crash-front.ts';
import type { CrashFront } from './crash-front.ts';
import type { CrashPoint } from './crash-steps.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import type { ProcessWorld, TestProcess } from './process.ts';
import { startService, testKeys } from './service.ts';
import type { TestMerchant, TestService } from './service.ts';
import { asOwner } from './tables.ts';

/** What the process that dies does. */
export type CrashRole = 'api' | 'worker';

/** What every transfer costs, in bututs. */
export const transferFeeMinor = 250n;

const startedAt = new Date('2026-11-20T12:00:00.000Z');
// After the longest lease, and after the time in which an order may still arrive at its network.
const stepMs = 61_000;
const stepsMax = 10;
const eventKinds = ['transfer.succeeded', 'transfer.failed', 'charge.succeeded', 'charge.failed'];

/** A merchant on a database of its own, and services that come and go in front of it. All of them have one clock. */
export class CrashWorld {
  readonly clock = new CrashClock(startedAt);
  readonly database: TestDatabase;
  readonly receiver: CallbackReceiver;
  readonly front: CrashFront;
  readonly #running = new Set<TestService>();
  #api: TestService | undefined;
  #merchant: TestMerchant | undefined;

  private constructor(parts: { database: TestDatabase; receiver: CallbackReceiver; front: CrashFront }) {
    this.database = parts.database;
    this.receiver = parts.receiver;
    this.front = parts.front;
  }

  /** With an API process, in which the simulated networks live, and a merchant with fees, a limit and a receiver. */
  static async create(): Promise<CrashWorld> {
    const [database, receiver, front] = await Promise.all([
      createTestDatabase(),
      startCallbackReceiver(),
      startCrashFront(),
    ]);
    const world = new CrashWorld({ database, receiver, front });
    await world.startApi();
    const { test } = await world.api.onboard();
    world.#merchant = test;
    const owner = { merchantId: test.merchant.id };
    const fee = { percentHundredths: 0n, fixedMinor: transferFeeMinor, minimumMinor: 0n, maximumMinor: null };
    await setFeeRule(world.api.db, owner, { ...fee, operation: 'transfer', network: 'all' });
    // So that the day's total is asked for, and not only counted.
    await setLimit(world.api.db, owner, { kind: 'daily', amountMinor: 10_000_000n });
    const body = JSON.stringify({ url: `${receiver.url}/events`, enabled_events: eventKinds });
    const headers = { 'content-type': 'application/json' };
    const endpoint = `/v1/webhook-endpoints/${test.endpointId}`;
    const answer = await world.client().send('PUT', endpoint, { body, headers });
    assert.equal(answer.status, 200, answer.text);
    return world;
  }

  /** The API process that lives in the test's own. */
  get api(): TestService {
    assert(this.#api, 'an API process runs');
    return this.#api;
  }

  get merchant(): TestMerchant {
    assert(this.#merchant, 'there is a merchant');
    return this.#merchant;
  }

  /** The merchant's server, which asks the API process at `url`. */
  client(url = this.api.url): ApiClient {
    return createApiClient(url, this.merchant.key);
  }

  async startApi(): Promise<void> {
    this.#api = await this.#start('api');
    this.front.leadTo(this.#api.url);
  }

  async stopApi(): Promise<void> {
    await this.#stop(this.api);
    this.#api = undefined;
  }

  /** Starts a process that ends at the point; without one it lives on and prints its steps. */
  spawn(processes: ProcessWorld, role: CrashRole, point: CrashPoint | null): TestProcess {
    return processes.start([process.execPath, 'test/harness/crashing-service.ts'], {
      ...this.#settings(role),
      ...testKeys,
      APP_ENV: 'development',
      PORT: '0',
      CRASH_NOW: this.clock.now().toISOString(),
      ...(point && { CRASH_POINT: JSON.stringify(point) }),
    });
  }

  /** Lets a worker do all that is due now. */
  async work(): Promise<void> {
    const worker = await this.#start('worker');
    await worker.app.drain();
    await this.#stop(worker);
  }

  pass(ms: number): void {
    this.clock.set(addMs(this.clock.now(), ms));
  }

  /** From here on the networks' reports get lost on the way; what becomes of an order is to be asked for. */
  async loseReports(): Promise<void> {
    await asOwner(this, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
    const trigger = 'BEFORE INSERT ON simulator.callbacks FOR EACH ROW EXECUTE FUNCTION lose()';
    await asOwner(this, `CREATE TRIGGER lost ${trigger}`);
  }

  /**
   * A minute after whatever happened, a worker starts and works until nothing is left to do, for ten minutes of the
   * clock. Fails with what is left after them.
   */
  async settle(): Promise<void> {
    this.front.loseAnswers(false);
    this.front.leadTo(this.api.url);
    this.pass(stepMs);
    const worker = await this.#start('worker');
    for (let step = 0; ; step += 1) {
      await this.api.app.drain();
      await worker.app.drain();
      const left = await this.whatIsLeft();
      if (left.length === 0) break;
      assert(step < stepsMax, `after ${stepsMax} minutes there is still to do: ${left.join(', ')}`);
      this.pass(stepMs);
    }
    await this.#stop(worker);
  }

  /** Everything that somebody still has to do, in words. */
  async whatIsLeft(): Promise<string[]> {
    const rows = await asOwner<{ what: string }>(
      this,
      `SELECT kind AS what FROM outbox
       UNION ALL SELECT 'a callback' FROM network_inbox WHERE handled_at IS NULL
       UNION ALL SELECT 'a delivery' FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL
       UNION ALL SELECT 'a report of a network' FROM simulator.callbacks`,
    );
    return rows.map(({ what }) => what);
  }

  async close(): Promise<void> {
    for (const service of this.#running) await this.#stop(service);
    await Promise.all([this.receiver.close(), this.front.close()]);
    await this.database.drop();
  }

  async #start(role: CrashRole): Promise<TestService> {
    const { clock, database } = this;
    const service = await startService({ clock, database, settings: this.#settings(role) });
    this.#running.add(service);
    return service;
  }

  #settings(role: CrashRole): Record<string, string> {
    const { appUrl } = this.database;
    return { ROLE: role, APP_DATABASE_URL: appUrl, INTERNAL_URL: this.front.url, LOG_LEVEL: 'error' };
  }

  async #stop(service: TestService): Promise<void> {
    this.#running.delete(service);
    await service.stop();
  }
}
