import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../server/src/configuration/config.ts';
import { createCustomer } from '../../server/src/customers/manage-customers.ts';
import type { EventKind } from '../../server/src/events/kinds.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import type { Database, Transaction } from '../../server/src/kit/db.ts';
import { startNotifier, type Notifier } from '../../server/src/kit/notifier.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createApiKey } from '../../server/src/merchants/manage-keys.ts';
import { createOnboardingContext, onboardBusiness } from '../../server/src/operator/onboard-business.ts';
import { openSecrets } from '../../server/src/process/open-secrets.ts';
import { readSecrets } from '../../server/src/configuration/secrets.ts';
import type { WrittenEvent } from '../../server/src/events/event.ts';
import type { DeliveryPlanner } from '../../server/src/webhooks/delivery-planner.ts';
import { createPlanner } from '../../server/src/app/contexts.ts';
import { createEndpoint } from '../../server/src/webhooks/manage-endpoints.ts';
import { workTopic } from '../../server/src/app/work-queues.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { SettableClock } from './settable-clock.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { startVerifyingReceiver, type VerifyingReceiver } from './verifying-receiver.ts';
import { startManualClockService, type ManualClockService } from './manual-clock-service.ts';
import type { ProcessWorld } from './process.ts';
import { testKeys } from './service.ts';
import { asOwner } from './tables.ts';
import { openTestDatabase } from './open-test-database.ts';

/** A service of the story. */
export interface StoryService {
  client: ApiClient;
  /** Stops it with SIGTERM or `close`; fails unless it exits with 0 and logs no error. */
  stop(): Promise<void>;
}

interface StoryProcess extends StoryService {
  kill(): Promise<void>;
}

interface StoryParts {
  clock: SettableClock;
  database: TestDatabase;
  db: Database;
  notifier: Notifier;
  processes: ProcessWorld | undefined;
}

type Role = 'worker' | 'all';
type Running = Pick<ManualClockService, 'advanceTo'>;

/** A merchant's server and its endpoint. The receiver knows the endpoint's secret as `first`. */
export type Subscriber = VerifyingReceiver & { endpointId: string };

const startedAt = new Date('2026-11-20T12:00:00.000Z');
const subscribedKind: EventKind = 'customer.created';
const servicePath = fileURLToPath(import.meta.resolve('./manual-clock-service-process.ts'));
// Ten attempts, and two claims of killed processes.
const stepsMax = 14;

/** A merchant whose servers receive an event for each new customer, from services that share one clock. */
export class DeliveryStory {
  readonly clock: SettableClock;
  readonly database: TestDatabase;
  readonly #db: Database;
  readonly #notifier: Notifier;
  readonly #planner: DeliveryPlanner;
  readonly #processes: ProcessWorld | undefined;
  readonly #clockFile: string | undefined;
  readonly #running = new Set<Running>();
  readonly #stops: (() => Promise<void>)[] = [];
  readonly #subscribers: Subscriber[] = [];
  #merchant: { id: string; key: string } | undefined;

  private constructor(parts: StoryParts) {
    const { clock, database, db, notifier, processes } = parts;
    this.clock = clock;
    this.database = database;
    this.#db = db;
    this.#notifier = notifier;
    this.#planner = createPlanner({ notifier, clock, random: systemRandom });
    this.#processes = processes;
    this.#clockFile = processes && `${processes.newDataDirectory()}-clock`;
  }

  /** `processes` starts services in their own processes; the story closes it. */
  static async create(processes?: ProcessWorld): Promise<DeliveryStory> {
    const database = await createTestDatabase();
    const clock = new SettableClock(startedAt);
    const db = openTestDatabase(database, { connectionsMax: 4, clock });
    const notifier = await startNotifier({ db, clock, onError: () => {} });
    const story = new DeliveryStory({ clock, database, db, notifier, processes });
    await story.#onboard();
    return story;
  }

  async #onboard(): Promise<void> {
    // As at the start of a service, before anything is sealed or hashed.
    await openSecrets(readSecrets(readConfig(testKeys), systemRandom), { db: this.#db, clock: this.clock });
    await this.#db.withTransaction(async (tx) => {
      const business = { name: 'Kairaba Books', rateLimitPerSecond: 0n };
      const { merchant } = (await onboardBusiness(tx, this.#context(), business)).test;
      this.#merchant = {
        id: merchant.id,
        key: (await createApiKey(tx, this.#context(), merchant, { name: 'Story' })).text,
      };
    });
  }

  #context() {
    const config = readConfig(testKeys);
    const secrets = readSecrets(config, systemRandom);
    return createOnboardingContext(config, { clock: this.clock, random: systemRandom, secrets });
  }

  get #caller() {
    assert(this.#merchant, 'there is a merchant');
    return { merchantId: this.#merchant.id, testMode: true };
  }

  async subscribe(): Promise<Subscriber> {
    const receiver = await startVerifyingReceiver();
    const request = { url: receiver.url, enabledEvents: [subscribedKind] };
    const { endpoint, secret } = await this.#db.withTransaction((tx) =>
      createEndpoint(tx, { ...this.#context(), planner: this.#planner }, this.#caller, request),
    );
    receiver.secrets.set('first', secret);
    const subscriber: Subscriber = Object.assign(receiver, { endpointId: endpoint.id });
    this.#subscribers.push(subscriber);
    return subscriber;
  }

  /** Creates a customer in its own transaction and returns the id, which is in its event. */
  async commit(): Promise<string> {
    const context = {
      ...this.#context(),
      notifyWorker: (work: Parameters<typeof workTopic>[0]) => this.#notifyWorker(work),
      planDeliveries: (tx: Transaction, event: WrittenEvent) => this.#planner.plan(tx, event),
    };
    const request = { name: 'Ŋansi "Ceesay" 🙂', email: null, phone: null, metadata: { big: '9007199254740993' } };
    const { customer } = await this.#db.withTransaction((tx) =>
      createCustomer(tx, context, this.#caller, { ...request, distinct: false }),
    );
    return customer.id;
  }

  #notifyWorker(work: Parameters<typeof workTopic>[0]): void {
    this.#notifier.notify(workTopic(work));
  }

  /** Starts a service in its own process, which can be killed. */
  async start(role: Role): Promise<StoryProcess> {
    assert(this.#processes && this.#clockFile, 'the story has processes');
    writeFileSync(this.#clockFile, this.clock.now().toISOString());
    const settings = { ...this.#settings(role), CLOCK_FILE: this.#clockFile };
    const child = this.#processes.start([process.execPath, servicePath], settings);
    const [, url = ''] = await child.printed(/^ready at (\S+)/m);
    const running: Running = {
      advanceTo: async (time) => {
        const printedBefore = child.stdout().length;
        child.signal('SIGUSR2');
        await child.printed(new RegExp(`^[^]{${printedBefore},}came to ${time.toISOString()}`));
      },
    };
    this.#running.add(running);
    return {
      client: createApiClient(url, this.#merchant?.key ?? ''),
      kill: async () => {
        this.#running.delete(running);
        child.signal('SIGKILL');
        await child.ended;
      },
      stop: async () => {
        this.#running.delete(running);
        child.stop();
        const { code } = await child.ended;
        assert.deepEqual({ code, stderr: child.stderr() }, { code: 0, stderr: '' }, 'it stops cleanly');
      },
    };
  }

  /** Starts a service in the test's own process. */
  async startInProcess(role: Role): Promise<StoryService> {
    const logged: string[] = [];
    const settings = this.#settings(role);
    const now = this.clock.now();
    const service = await startManualClockService({ settings, now, writeLog: (line) => logged.push(line) });
    this.#running.add(service);
    const stop = async (): Promise<void> => {
      if (!this.#running.delete(service)) return;
      await service.stop();
      assert.deepEqual(logged, [], 'it stops cleanly');
    };
    this.#stops.push(stop);
    return { client: createApiClient(service.url, this.#merchant?.key ?? ''), stop };
  }

  #settings(role: Role) {
    return {
      ...testKeys,
      APP_ENV: 'development',
      PORT: '0',
      ROLE: role,
      APP_DATABASE_URL: this.database.appUrl,
      // Workers require it; nothing here calls a network.
      INTERNAL_URL: 'http://127.0.0.1:9',
      LOG_LEVEL: 'error',
    };
  }

  /** Sets the clock; all services do what is due then. Resolves when they are done. */
  async advanceTo(time: Date): Promise<void> {
    this.clock.set(time);
    if (this.#clockFile !== undefined) writeFileSync(this.#clockFile, time.toISOString());
    await Promise.all([...this.#running].map((service) => service.advanceTo(time)));
  }

  /** Moves the clock until nothing is left to deliver, each time to when everything pending is due. */
  async settle(): Promise<void> {
    for (let step = 0; step < stepsMax; step += 1) {
      await this.advanceTo(this.clock.now());
      const lastDueAt = await this.lastDueAt();
      if (lastDueAt === null) return;
      // Whole seconds, as in signatures.
      this.clock.set(new Date(Math.ceil(lastDueAt.getTime() / 1_000) * 1_000));
    }
    assert.fail(`after ${stepsMax} steps deliveries are still pending`);
  }

  /** Moves the clock while no delivery is under way: one whose claim ends meanwhile would be sent again. */
  async advance(ms: number): Promise<void> {
    await this.advanceTo(this.clock.now());
    await this.advanceTo(addMs(this.clock.now(), ms));
  }

  /** When the last pending delivery is due; null when none is pending. */
  async lastDueAt(): Promise<Date | null> {
    const [row] = await asOwner<{ at: Date | null }>(this, 'SELECT max(next_attempt_at) AS at FROM webhook_deliveries');
    return row?.at ?? null;
  }

  /** The number of deliveries by status. */
  async countDeliveries(): Promise<Record<string, number>> {
    const text = 'SELECT status, count(*)::integer AS count FROM webhook_deliveries GROUP BY status';
    const rows = await asOwner<{ status: string; count: number }>(this, text);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) await stop();
    await this.#processes?.close();
    for (const subscriber of this.#subscribers) await subscriber.close();
    await this.#notifier.close();
    await this.#db.close();
    await this.database.drop();
  }
}
