import assert from 'node:assert/strict';
import { readConfig } from '../../server/src/configuration/config.ts';
import { addMs, systemClock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { startNotifier, type Notifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { setFeeRule, setLimit } from '../../server/src/merchants/manage-rules.ts';
import type { Merchant } from '../../server/src/merchants/merchant.ts';
import { createOnboardingContext, onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import { updateEndpoint } from '../../server/src/webhooks/manage-endpoints.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { startCallbackReceiver, type CallbackReceiver } from './callback-receiver.ts';
import { SettableClock } from './settable-clock.ts';
import { startCrashProxy, type CrashProxy } from './tcp-proxy.ts';
import type { CrashPoint } from './crash-steps.ts';
import type { Victim } from './crashing-service.ts';
import { withoutPortal } from './assemble-service.ts';
import { borrowDatabase, type BorrowedDatabase } from './borrowed-database.ts';
import type { TestDatabase } from './database.ts';
import { startService, testKeys, type TestService } from './service.ts';
import { dropCallbacks, restoreCallbacks } from './tables.ts';

/** What a process runs: the API, the workers, or both. */
export type CrashRole = 'api' | 'worker' | 'all';

/** In bututs: the merchant's first balance, and the fee of each transfer. */
export const startingMinor = 100_000_000n;
export const transferFeeMinor = 250n;

const startedAt = new Date('2026-11-20T12:00:00.000Z');
// Longer than the longest lease, and than the time in which a request may still arrive at its network.
const stepMs = 61_000;
const stepsMax = 10;

interface CrashWorldParts {
  borrowed: BorrowedDatabase;
  receiver: CallbackReceiver;
  proxy: CrashProxy;
  notifier: Notifier;
}

/** A merchant on its own database, and services that start and stop on it. All share one clock. */
export class CrashWorld {
  readonly clock = new SettableClock(startedAt);
  readonly database: TestDatabase;
  /** Also of the services in the test's own process. */
  readonly db: Database;
  readonly receiver: CallbackReceiver;
  readonly proxy: CrashProxy;
  readonly #giveBack: BorrowedDatabase['giveBack'];
  /** Of the services in the test's own process, which are one process to the killed one. */
  readonly #notifier: Notifier;
  readonly #running: { role: CrashRole; service: TestService }[] = [];
  #dropsCallbacks = false;
  #closed: Promise<void> | undefined;
  #merchant: { merchant: Merchant; key: string } | undefined;

  private constructor(parts: CrashWorldParts) {
    ({ database: this.database, db: this.db, giveBack: this.#giveBack } = parts.borrowed);
    ({ receiver: this.receiver, proxy: this.proxy, notifier: this.#notifier } = parts);
  }

  /** With a merchant who has test money, a transfer fee, a daily limit, and an endpoint for the outcomes. */
  static async create(): Promise<CrashWorld> {
    const [borrowed, receiver, proxy] = await Promise.all([
      borrowDatabase({ connectionsMax: 2 }),
      startCallbackReceiver(),
      startCrashProxy(),
    ]);
    const { db } = borrowed;
    const notifier = await startNotifier({ db, clock: systemClock, onError: () => {} });
    const world = new CrashWorld({ borrowed, receiver, proxy, notifier });
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
      // So that a transfer reads the day's total and not only adds to it.
      await setLimit(tx, owner, { kind: 'daily', amountMinor: 10_000_000n });
      const { text: key } = await createApiKey(tx, context, merchant, { name: 'Crash' });
      this.#merchant = { merchant, key };
    });
    // Only services that ran before the endpoint was changed could have missed events for it.
    await this.database.asOwner('DELETE FROM outbox');
  }

  get merchant(): Merchant {
    assert(this.#merchant, 'there is a merchant');
    return this.#merchant.merchant;
  }

  /** The URL of the API in the test's own process. */
  get apiUrl(): string {
    const api = this.#running.find(({ role }) => role !== 'worker');
    assert(api, 'an API process runs');
    return api.service.url;
  }

  /** The merchant's server, which calls the API at `url`. */
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
      connected: this.db,
      notifier: this.#notifier,
      serve: withoutPortal,
    });
    this.#running.push({ role, service });
    if (role !== 'worker') this.proxy.routeTo(service.url);
    return service;
  }

  /** Starts a worker, lets it do all that is due now, and stops it. */
  async runWorker(): Promise<void> {
    const worker = await this.start('worker');
    await worker.app.drain();
    this.#running.pop();
    await worker.stop();
  }

  /** The simulated networks send the callbacks that are due now. */
  async sendCallbacks(): Promise<void> {
    for (const { role, service } of this.#running) if (role !== 'worker') await service.app.drain();
  }

  /** A service on this world's database, for a process that will be killed. */
  victim(role: CrashRole, point: CrashPoint | null, runsForMs = 0): Victim {
    return {
      settings: { ...this.#settings(role), ...testKeys, APP_ENV: 'development', PORT: '0' },
      now: this.clock.now().toISOString(),
      point,
      runsForMs,
      ports: [this.proxy.url, this.receiver.url].map((url) => Number(new URL(url).port)),
    };
  }

  advance(ms: number): void {
    this.clock.set(addMs(this.clock.now(), ms));
  }

  /** From now on the networks' callbacks are lost: only a look-up finds the outcome. */
  async dropCallbacks(): Promise<void> {
    this.#dropsCallbacks = true;
    await dropCallbacks(this);
  }

  /**
   * Moves the clock by a minute, starts a worker, and lets all services work until nothing is left to do, for at most
   * ten minutes of the clock. Fails with what is left. A running worker first finishes its work in progress: a look-up
   * of a call that has not arrived yet would find nothing.
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
      assert(step < stepsMax, `after ${stepsMax} minutes these are left: ${pending.join(', ')}`);
      this.advance(stepMs);
    }
  }

  /** All pending work, in words; whether a payout was reversed is looked up days later. */
  async listPending(): Promise<string[]> {
    const rows = await this.db.rows<{ what: string }>({
      name: 'test_what_is_left',
      text: `SELECT kind AS what FROM outbox WHERE kind <> 'recheck_transfer' OR due_at < $1
             UNION ALL SELECT 'a callback' FROM network_inbox WHERE due_at IS NOT NULL
             UNION ALL SELECT 'a delivery' FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL
             UNION ALL SELECT 'a report of a network' FROM simulator.callbacks`,
      values: [addMs(this.clock.now(), stepsMax * stepMs)],
    });
    return rows.map(({ what }) => what);
  }

  /** Can be called again. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    // Workers first: their calls go to the simulated networks, which run with the API.
    for (const { service } of this.#running.toReversed()) await service.stop();
    await Promise.all([this.receiver.close(), this.proxy.close(), this.#notifier.close()]);
    if (this.#dropsCallbacks) await restoreCallbacks(this);
    await this.#giveBack();
  }

  #settings(role: CrashRole): Record<string, string> {
    const { appUrl } = this.database;
    return { ROLE: role, APP_DATABASE_URL: appUrl, INTERNAL_URL: this.proxy.url, LOG_LEVEL: 'error' };
  }
}

/** The number of rows: `transfer_notes WHERE …`. */
export async function countWhere(world: CrashWorld, table: string): Promise<number> {
  const text = `SELECT count(*)::integer AS count FROM ${table}`;
  const row = await world.db.row<{ count: number }>({ name: '', text, values: [] });
  return row?.count ?? 0;
}
