import assert from 'node:assert/strict';
import { readConfig } from '../../server/src/configuration/config.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { setFeeRule, setLimit } from '../../server/src/merchants/manage-rules.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import { createOnboardingContext, onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { updateEndpoint } from '../../server/src/webhooks/manage-endpoints.ts';
import { createApiClient } from './api-client.ts';
import type { ApiClient } from './api-client.ts';
import { startCallbackReceiver } from './callback-receiver.ts';
import type { CallbackReceiver } from './callback-receiver.ts';
import { SettableClock } from './settable-clock.ts';
import { startCrashProxy } from './crash-proxy.ts';
import type { CrashProxy } from './crash-proxy.ts';
import type { CrashPoint } from './crash-steps.ts';
import type { Victim } from './crashing-service.ts';
import { createTestDatabase } from './database.ts';
import type { TestDatabase } from './database.ts';
import { startService, testKeys } from './service.ts';
import type { TestService } from './service.ts';
import { asOwner } from './tables.ts';
import { openTestDatabase } from './open-test-database.ts';

/** What a process does: answer requests, do what is due, or both. */
export type CrashRole = 'api' | 'worker' | 'all';

/** In bututs: what the merchant starts with, and what every transfer costs. */
export const startingMinor = 100_000_000n;
export const transferFeeMinor = 250n;

const startedAt = new Date('2026-11-20T12:00:00.000Z');
// After the longest lease, and after the time in which an order may still arrive at its network.
const stepMs = 61_000;
const stepsMax = 10;

/** A merchant on a database of its own, and services that come and go in front of it. All of them have one clock. */
export class CrashWorld {
  readonly clock = new SettableClock(startedAt);
  readonly database: TestDatabase;
  readonly db: Database;
  readonly receiver: CallbackReceiver;
  readonly proxy: CrashProxy;
  readonly #running: { role: CrashRole; service: TestService }[] = [];
  #closed: Promise<void> | undefined;
  #merchant: { merchant: Merchant; key: string } | undefined;

  private constructor(parts: { database: TestDatabase; receiver: CallbackReceiver; proxy: CrashProxy }) {
    this.database = parts.database;
    this.receiver = parts.receiver;
    this.proxy = parts.proxy;
    this.db = openTestDatabase(parts.database, { connectionsMax: 1, clock: this.clock });
  }

  /** With a merchant who has test money, pays for transfers, has a daily limit and hears how they end. */
  static async create(): Promise<CrashWorld> {
    const [database, receiver, proxy] = await Promise.all([
      createTestDatabase(),
      startCallbackReceiver(),
      startCrashProxy(),
    ]);
    const world = new CrashWorld({ database, receiver, proxy });
    await world.#onboard();
    return world;
  }

  async #onboard(): Promise<void> {
    const { db, clock, receiver } = this;
    // As a start does, before anything is sealed or hashed.
    const config = readConfig(testKeys);
    const { secrets } = await openSecrets(readSecrets(config, systemRandom), { db, clock });
    const context = createOnboardingContext(config, { clock, random: systemRandom, secrets });
    await db.withTransaction(async (tx) => {
      const { test } = await onboardBusiness(tx, context, { name: 'Kairaba Books', rateLimitPerSecond: 0n });
      const { merchant, endpoint } = test;
      const owner = { merchantId: merchant.id };
      const enabledEvents = ['transfer.succeeded', 'transfer.failed', 'charge.succeeded', 'charge.failed'];
      const change = { url: `${receiver.url}/events`, enabledEvents };
      await updateEndpoint(tx, context, { ...owner, testMode: true }, { id: endpoint.id, change });
      const fee = { percentHundredths: 0n, fixedMinor: transferFeeMinor, minimumMinor: 0n, maximumMinor: null };
      await setFeeRule(tx, owner, { ...fee, operation: 'transfer', network: 'all' });
      // So that the day's total is asked for, and not only counted.
      await setLimit(tx, owner, { kind: 'daily', amountMinor: 10_000_000n });
      const { text: key } = await createApiKey(tx, context, merchant, 'Crash');
      this.#merchant = { merchant, key };
    });
  }

  get merchant(): Merchant {
    assert(this.#merchant, 'there is a merchant');
    return this.#merchant.merchant;
  }

  /** Where an API process in the test's own process is. */
  get apiUrl(): string {
    const api = this.#running.find(({ role }) => role !== 'worker');
    assert(api, 'an API process runs');
    return api.service.url;
  }

  /** The merchant's server, which asks the API process at `url`. */
  client(url = this.apiUrl): ApiClient {
    return createApiClient(url, this.#merchant?.key ?? '');
  }

  /** A service in the test's own process, until the world is closed. */
  async start(role: CrashRole): Promise<TestService> {
    const { clock, database } = this;
    const service = await startService({
      clock,
      database,
      settings: this.#settings(role),
      connectionsMax: 3,
    });
    this.#running.push({ role, service });
    if (role !== 'worker') this.proxy.routeTo(service.url);
    return service;
  }

  /** Lets a worker that has just started do all that is due now. */
  async runWorker(): Promise<void> {
    const worker = await this.start('worker');
    await worker.app.drain();
    this.#running.pop();
    await worker.stop();
  }

  /** The simulated networks send the reports that are due now. */
  async sendCallbacks(): Promise<void> {
    for (const { role, service } of this.#running) if (role !== 'worker') await service.app.drain();
  }

  /** A service on this world's database, for a process that is going to be killed. */
  victim(role: CrashRole, point: CrashPoint | null): Victim {
    return {
      settings: { ...this.#settings(role), ...testKeys, APP_ENV: 'development', PORT: '0' },
      now: this.clock.now().toISOString(),
      point,
      ports: [this.proxy.url, this.receiver.url].map((url) => Number(new URL(url).port)),
    };
  }

  advance(ms: number): void {
    this.clock.set(addMs(this.clock.now(), ms));
  }

  /** From here on the networks' reports get lost on the way; what becomes of an order is to be asked for. */
  async dropCallbacks(): Promise<void> {
    await asOwner(this, `CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'`);
    const trigger = 'BEFORE INSERT ON simulator.callbacks FOR EACH ROW EXECUTE FUNCTION lose()';
    await asOwner(this, `CREATE TRIGGER lost ${trigger}`);
  }

  /**
   * A minute after whatever happened, a worker starts, and all work until nothing is left to do, for ten minutes of the
   * clock. Fails with what is left after them. A worker that runs already ends what it has begun before the clock goes
   * on: a call that is still on its way would be looked up, and not be known.
   */
  async settle(): Promise<void> {
    this.proxy.dropResponses(false);
    this.proxy.routeTo(this.apiUrl);
    const workers = this.#running.filter(({ role }) => role !== 'api');
    for (const { service } of workers) await service.app.drain();
    this.advance(stepMs);
    if (workers.length === 0) await this.start('worker');
    for (let step = 0; ; step += 1) {
      for (const { service } of this.#running) await service.app.drain();
      const pending = await this.listPending();
      if (pending.length === 0) return;
      assert(step < stepsMax, `after ${stepsMax} minutes there is still to do: ${pending.join(', ')}`);
      this.advance(stepMs);
    }
  }

  /** Everything that somebody still has to do, in words. */
  async listPending(): Promise<string[]> {
    const rows = await this.db.rows<{ what: string }>({
      name: 'test_what_is_left',
      text: `SELECT kind AS what FROM outbox
             UNION ALL SELECT 'a callback' FROM network_inbox WHERE handled_at IS NULL
             UNION ALL SELECT 'a delivery' FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL
             UNION ALL SELECT 'a report of a network' FROM simulator.callbacks`,
      values: [],
    });
    return rows.map(({ what }) => what);
  }

  /** Can be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Workers first: what they have under way goes to the networks, which live with the API.
    for (const { service } of this.#running.toReversed()) await service.stop();
    await Promise.all([this.receiver.close(), this.proxy.close(), this.db.close()]);
    await this.database.drop();
  }

  #settings(role: CrashRole): Record<string, string> {
    const { appUrl } = this.database;
    return { ROLE: role, APP_DATABASE_URL: appUrl, INTERNAL_URL: this.proxy.url, LOG_LEVEL: 'error' };
  }
}

/** How many rows there are: `transfer_notes WHERE …`. */
export async function countWhere(world: CrashWorld, table: string): Promise<number> {
  const text = `SELECT count(*)::integer AS count FROM ${table}`;
  const row = await world.db.row<{ count: number }>({ name: `test_count_${table}`, text, values: [] });
  return row?.count ?? 0;
}
