import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../server/src/database/embedded/embedded.ts';
import { clusterDirectoryIn } from '../../server/src/database/embedded/cluster.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { serviceCommand, type ProcessWorld, type TestProcess } from './process.ts';
import { processesIn, readDemo, readyAt } from './program.ts';
import type { CommandOutput, Settings } from './service-world.ts';
import type { SteadyLoad } from './steady-load.ts';
import { overTcp } from './tcp-proxy.ts';
import { startWeakLink, type WeakLink } from './weak-link.ts';

// A call that was never sent counts as failed after a minute, and the look-ups before that are half a minute apart.
const endsWithinMs = 300_000;

interface FragileOptions {
  /** Where PostgreSQL keeps its files; default: a new directory. */
  databaseDirectory?: string;
  /** What starts the service, where it needs other limits than the test has. */
  shell?: string;
  /** Beside those that every such service has. */
  settings?: Settings;
}

/** The service as an operator runs it, on a durable PostgreSQL of its own behind a link that can fail. */
export class FragileService {
  readonly #world: ProcessWorld;
  readonly #directory: string;
  readonly #settings: Record<string, string>;
  #postgres: EmbeddedPostgres;
  readonly link: WeakLink;
  readonly service: TestProcess;
  readonly url: string;
  readonly key: string;

  private constructor(parts: {
    world: ProcessWorld;
    directory: string;
    settings: Record<string, string>;
    postgres: EmbeddedPostgres;
    link: WeakLink;
    service: TestProcess;
    url: string;
    key: string;
  }) {
    this.#world = parts.world;
    this.#directory = parts.directory;
    this.#settings = parts.settings;
    this.#postgres = parts.postgres;
    this.link = parts.link;
    this.service = parts.service;
    this.url = parts.url;
    this.key = parts.key;
  }

  static async start(world: ProcessWorld, options: FragileOptions = {}): Promise<FragileService> {
    const { databaseDirectory: directory = world.newDataDirectory(), shell } = options;
    const postgres = await startEmbeddedPostgres({ dataDirectory: directory, durable: true, log: () => {} });
    const link = await startWeakLink(Number(new URL(postgres.adminUrl).port));
    const settings = {
      ...{ DATABASE_URL: overTcp(postgres.adminUrl, link.port), RATE_LIMIT_TEST: '0' },
      ...{ APP_ENV: 'development', PORT: '0', LOG_LEVEL: 'error', DATA_DIR: world.newDataDirectory() },
      ...options.settings,
    };
    const command =
      shell === undefined ? serviceCommand : ['/bin/sh', '-c', `${shell}; exec "$@"`, 'sh', ...serviceCommand];
    const service = world.start(command, settings);
    const url = await readyAt(service);
    const { secret_key: key } = readDemo(settings.DATA_DIR);
    return new FragileService({ world, directory, settings, postgres, link, service, url, key });
  }

  api(): ApiClient {
    return createApiClient(this.url, this.key);
  }

  /** A second process of the same installation, on the same database. */
  async startAnother(settings: Settings = {}): Promise<TestProcess> {
    const another = this.#world.startService({ ...this.#settings, ...settings });
    await readyAt(another);
    return another;
  }

  /** Runs an operator's command on this installation. */
  operate(args: readonly string[]): Promise<CommandOutput> {
    return this.#world.runOperatorInProcess(this.#settings, args);
  }

  /** The database as its owner reaches it, past the link. */
  get adminUrl(): string {
    return this.#postgres.adminUrl;
  }

  /** Reads the database as its owner. */
  rows<Row>(text: string): Promise<Row[]> {
    return withAdminClient(this.#postgres.adminUrl, async (client) => (await client.query(text)).rows as Row[]);
  }

  /** Kills every process of PostgreSQL at once, as a power cut does. */
  async killDatabase(): Promise<void> {
    const pids = processesIn(clusterDirectoryIn(this.#directory));
    assert.ok(pids.length > 0, 'PostgreSQL runs');
    for (const pid of pids) process.kill(Number(pid), 'SIGKILL');
    await this.#postgres.exited;
  }

  /** Starts PostgreSQL on its files again; it may have another port. */
  async startDatabase(): Promise<void> {
    // Releases the lock of the directory.
    await this.#postgres.stop();
    this.#postgres = await startEmbeddedPostgres({ dataDirectory: this.#directory, durable: true, log: () => {} });
    this.link.routeTo(Number(new URL(this.#postgres.adminUrl).port));
  }

  /** Whether PostgreSQL has ended by itself. */
  hasDatabaseEnded(): boolean {
    return processesIn(clusterDirectoryIn(this.#directory)).length === 0;
  }

  /** Checks that everything acknowledged exists, once, and that it ends; then that the books are right. */
  async verify(load: Pick<SteadyLoad, 'payments' | 'transfers'>): Promise<void> {
    const ids = async (table: string): Promise<string[]> =>
      (await this.rows<{ id: string }>(`SELECT id FROM ${table} ORDER BY id`)).map(({ id }) => id);
    assert.deepEqual(await ids('payment_intents'), [...load.payments.values()].toSorted(), 'one payment for each key');
    assert.deepEqual(await ids('transfers'), [...load.transfers.values()].toSorted(), 'one transfer for each key');
    const countOpen = async (): Promise<number | undefined> => {
      const text = `SELECT (SELECT count(*) FROM transfers WHERE status = 'pending')::integer
                         + (SELECT count(*) FROM charges WHERE status = 'pending')::integer AS count`;
      return (await this.rows<{ count: number }>(text))[0]?.count;
    };
    const began = performance.now();
    while ((await countOpen()) !== 0) {
      assert.ok(performance.now() - began < endsWithinMs, `${await countOpen()} records are still under way`);
      await sleep(1_000);
    }
    const [paid] = await this.rows<{ ours: string; theirs: string }>(
      `SELECT (SELECT count(*) FROM transfers WHERE status = 'completed') AS ours,
              (SELECT count(*) FROM simulator.payouts WHERE COALESCE(planned_status, status) = 'completed') AS theirs`,
    );
    assert.equal(paid?.ours, paid?.theirs, 'the network paid each transfer once');
    const { code, stdout } = await this.operate(['ledger', 'verify']);
    assert.equal(code, 0, stdout);
  }

  async stop(): Promise<void> {
    this.service.stop();
    await this.service.ended;
    await this.link.close();
    await this.#postgres.stop();
  }
}
