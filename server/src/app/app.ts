import type { FastifyInstance } from 'fastify';
import {
  createAccounts,
  createAddress,
  createDailyHeads,
  createMoneyContext,
  createPlanner,
  createScriptComparisons,
  createSyntheticPayments,
  createNotices,
  createNetworks,
  createRailAccountContext,
  createWebhooks,
  type Address,
  type AppOptions,
  type MoneyContext,
} from './contexts.ts';
import type { Log } from '../kit/log.ts';
import type { ScriptComparisons } from './page-scripts/script-comparisons.ts';
import type { SyntheticPayments } from './synthetic-payment.ts';
import { registerGauges } from './gauges.ts';
import { createRestoreHold, heldText, type RestoreHold } from '../backups/hold.ts';
import type { DailyHeads } from '../chain/record-heads.ts';
import { registerHealth } from '../http/health.ts';
import { refuseWhileHeld } from '../http/refuse-while-held.ts';
import { listen } from '../http/listening.ts';
import { createMetrics, type Metrics } from '../http/metrics.ts';
import { createServer } from '../http/server.ts';
import { createNodeProbe } from '../http/node-probe.ts';
import { createWriteProbe } from '../http/write-probe.ts';
import { createBrowserErrors } from '../pages/browser-errors.ts';
import { watchSealer } from '../kit/seal.ts';
import { RequestLog } from '../request-log/request-log.ts';
import { KeyUses } from '../merchants/key-uses.ts';
import type { ServedParts } from '../process/serve.ts';
import { Heartbeats } from '../worker/heartbeats.ts';
import { startWorker, type Worker, type WorkQueue } from '../worker/worker.ts';
import { whileNotHeld } from '../worker/while-not-held.ts';
import {
  keyUseQueue,
  railAccountQueue,
  requestLogQueue,
  scriptComparisonQueue,
  syntheticQueue,
  simulatorQueue,
  workerQueues,
} from './work-queues.ts';
import { balancePermitsOf, createPayoutPace } from '../http/merchant-limiters.ts';
import type { Pace } from '../kit/pace.ts';
import { SharedCommits } from '../kit/shared-commits.ts';

export interface App {
  server: FastifyInstance;
  /** Listens, starts the work of this process's role, and returns the address it listens on. */
  start(): Promise<string>;
  /** Does everything that is due now; for tests. */
  drain(): Promise<void>;
  /** The networks that collect real money, by their names; empty where none is connected. */
  liveNetworks: readonly string[];
  /** This process's own URL; known once it is started. */
  ownUrl(): string;
  /** The public URL; known once it is started. */
  publicUrl(): string;
  /**
   * Reports that it is ending (`/readyz` returns 503), finishes what is under way, and closes what it opened. It still accepts new
   * requests for `noticeMs`, so that load balancers can take notice. The database stays open.
   */
  close(options?: { noticeMs: number }): Promise<void>;
}

/** Registers what a process that is no worker serves. */
type Serve = (server: FastifyInstance, options: AppOptions, parts: ServedParts) => Promise<unknown>;

// A worker does not load it: a third of all modules.
const serveAll: Serve = async (...served) => (await import('../process/serve.ts')).serve(...served);

/** Assembles the service from its parts; it listens only when it is started. */
export async function createApp(baseOptions: AppOptions, serve: Serve = serveAll): Promise<App> {
  const { config, clock, log, keyring } = baseOptions;
  const address = createAddress(config);
  const metrics = createMetrics();
  const sealer = watchSealer(baseOptions.secrets.sealer, metrics.observeUnreadable);
  const secrets = { ...baseOptions.secrets, sealer };
  const options = { ...baseOptions, secrets, planner: createPlanner(baseOptions) };
  const hold = createRestoreHold(options.db, clock);
  const probes = { writes: createWriteProbe(options), nodes: createNodeProbe(options) };
  const database = { keyring, hold, ...probes, expectsBackups: config.expectsBackups };
  const closing = new AbortController();
  const isClosing = () => closing.signal.aborted;
  const [docsUrl, browserErrors] = [address.publicUrl, createBrowserErrors(address)];
  const { trustedProxies } = config;
  const server = createServer({ ...options, metrics, docsUrl, browserErrors, isClosing, trustedProxies });
  refuseWhileHeld(server, hold);
  const networks = createNetworks({ ...options, observeCall: metrics.observeNetworkCall }, address);
  const money = createMoneyContext({ ...options, observeOutcome: metrics.observeOutcome }, address, networks.registry);
  const accounts = createAccounts(options, address);
  const webhooks = createWebhooks(options, money, { metrics, accounts: accounts.context });
  const notices = createNotices(options, money);
  const [{ channelBreaker }, { accounts: railAccounts }] = [notices.context, networks];
  const keyUses = new KeyUses(options.db);
  const requestLog = new RequestLog({ ...money, observeDropped: metrics.observeDroppedRequest });
  const commits = new SharedCommits(options.db, { aloneMax: balancePermitsOf(config.databaseConnections) });
  const pace = createPayoutPace(clock, options.isSaturated);
  const [dailyHeads, heartbeats] = [createDailyHeads(options), new Heartbeats(clock)];
  const synthetic = createSyntheticPayments(options, address, metrics);
  const scripts = createScriptComparisons(options, address, { metrics, closing: closing.signal });
  registerGauges(metrics, { ...money, ...database, commits, channelBreaker, railAccounts, dailyHeads, heartbeats });
  registerHealth(server, { ...money, ...database, channelBreaker, railAccounts, metrics, isClosing });
  if (config.role !== 'worker') {
    const { context: endpoints } = webhooks;
    const [{ simulator }, { callbacks }] = [networks, notices];
    await serve(server, options, {
      ...{ address, money, commits, pace, keyUses, requestLog, endpoints, callbacks, simulator, accounts, metrics },
      railAccounts: { context: createRailAccountContext(options), connected: networks.accounts },
      closing: closing.signal,
    });
  }
  await networks.accounts.load();
  let worker: Worker | null = null;
  const parts = { metrics, money, webhooks, notices, accounts, networks, keyUses, requestLog, hold, dailyHeads, pace };
  const queues = queuesOf(options, { ...parts, synthetic, scripts });
  return {
    server,
    start: async () => {
      const listening = await listenAt(server, config, address);
      await warnAtStart(log, { hasNetwork: networks.registry.list(false).length > 0, hold });
      worker = startWorker({ clock, changes: options.notifier, log, queues, heartbeats });
      return listening;
    },
    liveNetworks: [...new Set(networks.registry.list(false).map(({ capabilities }) => capabilities.displayName))],
    ownUrl: address.ownUrl,
    publicUrl: address.publicUrl,
    drain: async () => worker?.drain(),
    close: async (closeOptions) => {
      const noticeMs = closeOptions?.noticeMs ?? 0;
      closing.abort();
      const notice = noticeMs > 0 ? clock.sleep(noticeMs) : Promise.resolve();
      // Before the server: the worker's calls to the simulated networks, which run in it, may be under way, and a refused
      // connection would end a payment that was only interrupted.
      await Promise.all([worker?.stop(), notice]);
      await server.close();
      accounts.mailer?.close();
      await writeLastNotes({ keyUses, requestLog, log });
      await Promise.all([networks.close(), webhooks.close(), notices.close(), synthetic.close()]);
    },
  };
}

async function listenAt(server: FastifyInstance, config: AppOptions['config'], address: Address): Promise<string> {
  const { port } = config;
  const listening = await listen(server, config);
  // The address leaves a default port out, so the port is read from the server.
  const boundAddress = server.server.address();
  address.set(typeof boundAddress === 'object' && boundAddress ? boundAddress.port : port);
  return listening;
}

/** What an operator who has just started the service has to know. */
async function warnAtStart(log: Log, { hasNetwork, hold }: { hasNetwork: boolean; hold: RestoreHold }): Promise<void> {
  if (!hasNetwork) log.warn('no live network is connected: live payments are refused');
  const restore = await hold.held();
  if (restore) log.warn(`${heldText(restore)} (npm run operator -- restore release)`);
}

interface AppParts {
  metrics: Pick<Metrics, 'watchLimiter'>;
  money: MoneyContext;
  webhooks: ReturnType<typeof createWebhooks>;
  notices: ReturnType<typeof createNotices>;
  accounts: ReturnType<typeof createAccounts>;
  networks: ReturnType<typeof createNetworks>;
  keyUses: KeyUses;
  requestLog: RequestLog;
  hold: RestoreHold;
  dailyHeads: DailyHeads;
  pace: Pace;
  synthetic: SyntheticPayments;
  scripts: ScriptComparisons;
}

/** What this process does besides serving requests, by its role. */
function queuesOf({ config, clock, log }: AppOptions, parts: AppParts): WorkQueue[] {
  const {
    metrics,
    money,
    webhooks,
    notices,
    accounts,
    networks,
    keyUses,
    requestLog,
    hold,
    dailyHeads,
    pace,
    synthetic,
  } = parts;
  const queues = [
    railAccountQueue(networks.accounts),
    ...(config.role === 'api'
      ? []
      : [
          ...workerQueues(money, {
            money,
            webhooks: webhooks.context,
            notices: notices.context,
            ...accounts,
            dailyHeads,
            payoutPace: pace,
          }),
          ...(synthetic.isOn ? [syntheticQueue(synthetic, log)] : []),
        ].map((queue) => whileNotHeld(queue, hold))),
    ...(config.role === 'worker'
      ? []
      : [
          whileNotHeld(simulatorQueue(networks.callbackSender, clock), hold),
          keyUseQueue(keyUses, log),
          requestLogQueue(requestLog, log),
          ...(parts.scripts.isOn ? [scriptComparisonQueue(parts.scripts, log)] : []),
        ]),
  ];
  for (const { batches } of queues) if (batches) metrics.watchLimiter(batches.limiter);
  return queues;
}

/** What the last requests left in memory. */
async function writeLastNotes({ keyUses, requestLog, log }: Pick<AppParts, 'keyUses' | 'requestLog'> & { log: Log }) {
  await keyUses.write().catch((error: unknown) => log.error('the last uses of API keys are lost', error));
  try {
    while ((await requestLog.write()) > 0);
  } catch (error) {
    log.error('the last requests are not logged', error);
  }
}
