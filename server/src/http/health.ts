import type { FastifyInstance } from 'fastify';
import type { RestoreHold } from '../backups/hold.ts';
import { backupProblems, readBackupState } from '../backups/runs.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { summarizeBreakers, type BreakerCopy, type BreakerSummary } from '../networks/payout-breakers.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import type { Metrics } from './metrics.ts';
import type { NodeProbe } from './node-probe.ts';
import { ping } from './queries.ts';
import type { WriteProbe } from './write-probe.ts';

export interface HealthOptions {
  db: Queryable;
  clock: Clock;
  networks: NetworkRegistry;
  breakers: BreakerCopy;
  /** The open breakers of chat channels, at most a second old. */
  channelBreaker: { stops(): Promise<readonly ChatChannelStop[]> };
  /** How this process's keys compare with the keys that the database was written with. */
  keyring: { state(): Promise<KeyHealth> };
  /** Whether the database is a restored copy that nobody has released. */
  hold: RestoreHold;
  writes: WriteProbe;
  /** The nodes of a cluster that are down. */
  nodes: NodeProbe;
  /** Of the configuration. */
  expectsBackups: boolean;
  /** The rail accounts, with what is wrong with those that could not be connected. */
  railAccounts: { list(): readonly { account: { name: string }; problem: string | null }[] };
  metrics: Metrics;
  /** True once the process has been asked to shut down: a load balancer sends new requests elsewhere. */
  isClosing: () => boolean;
}

interface KeyHealth {
  missingSealKeys: readonly string[];
  isSealingLost: boolean;
  pepper: 'right' | 'wrong' | 'unverified';
}

/** A chat channel whose breaker is open. */
interface ChatChannelStop {
  channel: string;
  scope: string;
  reason: string;
  stoppedAt: Date;
  retryAt: Date;
}

/** `/healthz`: the process runs. `/readyz`: it can serve requests. `/metrics`: its figures, for Prometheus. */
export function registerHealth(app: FastifyInstance, options: HealthOptions): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const database = await checkDatabase(options);
    const ready = database.isUsable && !options.isClosing();
    return reply.code(ready ? 200 : 503).send({
      status: ready ? 'ready' : 'not_ready',
      checks: {
        ...database.checks,
        closing: options.isClosing(),
        unreadable_values: options.metrics.unreadableCount,
        ...(database.isReachable ? { ...(await checkNetworks(options)), ...(await checkBackups(options)) } : {}),
      },
    });
  });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(options.metrics.contentType).send(await options.metrics.text());
  });
}

interface DatabaseHealth {
  isReachable: boolean;
  /** Whether this process can serve requests with it. */
  isUsable: boolean;
  checks: Record<string, unknown>;
}

/**
 * Whether the database responds, accepts writes, was written with this process's keys, and is no unreleased restored copy. An
 * unverified pepper is reported but does not make the process unready, because only a request with an API key verifies it; nor does
 * a node of a cluster that is down, because the merchants of the others are served.
 */
async function checkDatabase({ db, writes, nodes, keyring, hold }: HealthOptions): Promise<DatabaseHealth> {
  try {
    await ping(db);
    const [writing, keys, restore] = [await writes.state(), await keyring.state(), await hold.held()];
    const nodesDown = await nodes.nodesDown();
    const sealKey = sealKeyState(keys);
    return {
      isReachable: true,
      isUsable: writing === 'ok' && sealKey === 'right' && keys.pepper !== 'wrong' && restore === null,
      checks: {
        database: 'ok',
        writes: writing,
        seal_key: sealKey,
        key_pepper: keys.pepper,
        ...(nodesDown && { database_nodes_down: nodesDown }),
        ...(restore && { restored: { held: true, at: restore.restoredAt, newest_change: restore.restoredTo } }),
      },
    };
  } catch {
    return { isReachable: false, isUsable: false, checks: { database: 'unreachable' } };
  }
}

function sealKeyState({ missingSealKeys, isSealingLost }: KeyHealth): 'lost' | 'wrong' | 'right' {
  if (isSealingLost) return 'lost';
  return missingSealKeys.length > 0 ? 'wrong' : 'right';
}

/** What is wrong with backups; it does not make the process unready. */
async function checkBackups({ db, clock, expectsBackups }: HealthOptions): Promise<Record<string, unknown>> {
  try {
    const now = clock.now();
    const problems = backupProblems(await readBackupState(db, now), { now, isExpected: expectsBackups });
    return { backups: problems.length === 0 ? 'ok' : problems.map(({ text }) => text) };
  } catch {
    return {};
  }
}

const accountsShownMax = 100;

/** The operator's accounts, and of businesses' own those that are paused. */
function isShown({ capabilities, open }: BreakerSummary['networks'][number]): boolean {
  return capabilities.merchantId === null || open !== null;
}

/**
 * The breakers of the networks that pay out and of the chat channels. They do not make the process unready: a network that is
 * down is down for every process.
 */
async function checkNetworks(options: HealthOptions): Promise<Record<string, unknown>> {
  try {
    const { networks, numberCount } = await summarizeBreakers(options);
    return {
      networks: Object.fromEntries(
        networks
          .filter(isShown)
          .map(({ capabilities, open }) => [
            `${capabilities.network}:${capabilities.railAccount}`,
            open ? { paused: open.reason, since: open.openedAt, retry_at: open.retryAt } : 'ok',
          ]),
      ),
      rail_accounts_not_connected: options.railAccounts
        .list()
        .flatMap(({ account, problem }) => (problem === null ? [] : [account.name]))
        .slice(0, accountsShownMax),
      paused_merchants: networks.reduce((sum, { merchantCount }) => sum + merchantCount, 0),
      paused_numbers: numberCount,
      stopped_chat_channels: Object.fromEntries(
        (await options.channelBreaker.stops()).map(({ channel, scope, reason, stoppedAt, retryAt }) => [
          channel,
          { scope, reason, since: stoppedAt, retry_at: retryAt },
        ]),
      ),
    };
  } catch {
    // The database became unreachable since checkDatabase.
    return {};
  }
}
