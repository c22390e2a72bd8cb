import type { AccountContext } from '../accounts/context.ts';
import { DailyHeads } from '../chain/record-heads.ts';
import type { Config } from '../configuration/config.ts';
import type { OutcomeObserver } from '../events/outcome.ts';
import { balancePermitsOf } from '../http/merchant-limiters.ts';
import type { Metrics } from '../http/metrics.ts';
import type { Keyring } from '../keyring/keyring.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database } from '../kit/db.ts';
import { GatheringDatabase } from '../kit/gathering-database.ts';
import { uuidV7 } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { ListReader } from '../api/list-reader.ts';
import type { Notifier } from '../kit/notifier.ts';
import { createOutboundClient } from '../kit/outbound-http.ts';
import type { Random } from '../kit/random.ts';
import { SharedCommits } from '../kit/shared-commits.ts';
import { sendMail, type MailContext } from '../mail/mail.ts';
import { createMailer } from '../mail/send-due-mail.ts';
import { createMerchantDirectory } from '../merchants/merchant-directory.ts';
import { BreakerCopy } from '../networks/payout-breakers.ts';
import { createNetworkRegistry, type NetworkRegistry } from '../networks/registry.ts';
import { createTestConnectors } from '../networks/test-connectors.ts';
import { createCallbackSender } from '../../../simulator/callback-sender.ts';
import { createSimulator } from '../../../simulator/simulator.ts';
import { createNetworkWires } from '../../../simulator/wires.ts';
import type { ChatCallbackContext } from '../notifications/callbacks.ts';
import { ChannelBreaker } from '../notifications/channel-breaker.ts';
import { createDevelopmentChannel } from '../notifications/development/channel.ts';
import { ScriptComparisons } from './page-scripts/script-comparisons.ts';
import { SyntheticPayments } from './synthetic-payment.ts';
import type { NoticeContext } from '../notifications/context.ts';
import { createTelegramChannel } from '../notifications/telegram/channel.ts';
import { createTelegramChats } from '../notifications/telegram/chats.ts';
import { createWhatsappChannel } from '../notifications/whatsapp/channel.ts';
import { ownHosts, urlPolicyOf } from '../configuration/own-hosts.ts';
import type { PaymentContext } from '../payments/context.ts';
import { ConnectedAccounts, type ConnectedAccountsOptions } from '../rail-accounts/connected-accounts.ts';
import { isSimulatedName, type RailAccountContext } from '../rail-accounts/manage-accounts.ts';
import { createRefundOwner } from '../refunds/end-refund.ts';
import type { Secrets } from '../configuration/secrets.ts';
import type { TransferContext } from '../transfers/context.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { DeliveryPlanner } from '../webhooks/delivery-planner.ts';
import { createEndpointMails } from '../webhooks/endpoint-mails.ts';
import { createBulkResendLimiter } from '../webhooks/resend-events.ts';
import { deliveryTopicKind, endpointsTopicKind, railAccountsTopic, simulatorTopic, workTopic } from './work-queues.ts';

// The contexts of the service's parts, built from the settings: all wiring is explicit, and in this file.

export interface AppOptions extends MoneyOptions {
  keyring: Keyring;
  /** Whether the process is at its limit; default: never, as where time is not the system's. */
  isSaturated?: () => boolean;
}

/** What the contexts are built from; all that a command has. */
export interface MoneyOptions {
  config: Config;
  secrets: Secrets;
  db: Database;
  notifier: Notifier;
  clock: Clock;
  random: Random;
  log: Log;
}

export interface Address {
  /** Sets the port that the server listens on. */
  set(port: number): void;
  /** This process's own URL. */
  ownUrl(): string;
  /** The public URL, without a slash at its end. */
  publicUrl(): string;
  /** The URL at which other processes of the service reach an API process. */
  internalUrl(): string;
}

/** The system may choose the port, so addresses are known once the server listens. */
export function createAddress(config: Config): Address {
  let port = config.port;
  const local = () => `http://${hostOf(config.host)}:${port}`;
  return {
    set: (boundPort) => {
      port = boundPort;
    },
    ownUrl: local,
    publicUrl: () => config.publicUrl ?? local(),
    internalUrl: () => config.internalUrl ?? (config.role === 'worker' ? (config.publicUrl ?? local()) : local()),
  };
}

/** `localhost` may resolve to 127.0.0.1 only; a server on another address is reached there. */
function hostOf(host: string): string {
  if (['0.0.0.0', '::', '127.0.0.1', 'localhost'].includes(host)) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

/** Test payments that show that the service works, if the operator wants them. */
export function createSyntheticPayments(
  { config, clock, log }: Pick<AppOptions, 'config' | 'clock' | 'log'>,
  address: Address,
  metrics: Metrics,
): SyntheticPayments {
  const { syntheticPaymentKey: key, amountMinMinor: amountMinor } = config;
  const payments = new SyntheticPayments({ key, amountMinor, baseUrl: address.publicUrl, clock, log });
  payments.register(metrics);
  return payments;
}

/** Comparisons of the pages' scripts, where a proxy is to be expected in front of them. */
export function createScriptComparisons(
  { config, clock, log }: Pick<AppOptions, 'config' | 'clock' | 'log'>,
  { publicUrl }: Address,
  { metrics, closing }: { metrics: Metrics; closing: AbortSignal },
): ScriptComparisons {
  const isOn = config.production && config.publicUrl !== null && config.role !== 'worker';
  const comparisons = new ScriptComparisons({ publicUrl, isOn, clock, log, closing });
  comparisons.register(metrics);
  return comparisons;
}

/** The simulated networks, and the accounts that an operator has connected, once they are loaded. */
export function createNetworks(
  options: MoneyOptions & Partial<Pick<ConnectedAccountsOptions, 'observeCall'>>,
  address: Address,
) {
  const { config, db, clock, random, secrets, notifier, log } = options;
  const connectors = createTestConnectors({
    baseUrl: address.internalUrl,
    callbackSecret: secrets.simulatorCallbackSecret,
    bearerSecret: secrets.simulatorBearerSecret,
    clock,
  });
  const wires = createNetworkWires({ callbackSecret: secrets.simulatorCallbackSecret, publicUrl: address.publicUrl });
  const callbackSender = createCallbackSender({ db, clock, wires });
  const simulator = createSimulator({
    db,
    clock,
    random,
    wires,
    notifySender: () => notifier.notify(simulatorTopic),
  });
  const registry = createNetworkRegistry(connectors);
  const { production } = config;
  const accounts = new ConnectedAccounts({
    ...{ db, clock, log, registry, production, sealer: secrets.sealer },
    observeCall: options.observeCall ?? (() => {}),
  });
  return {
    registry,
    accounts,
    simulator,
    callbackSender,
    close: async () => {
      await callbackSender.close();
      for (const connector of connectors) await connector.close();
      await accounts.close();
    },
  };
}

/** What an operator connects networks with, for the commands and the console alike. */
export function createRailAccountContext({
  config,
  db,
  clock,
  secrets,
  notifier,
}: Pick<MoneyOptions, 'db' | 'clock'> & {
  config: Pick<Config, 'production'>;
  secrets: Pick<Secrets, 'sealer'>;
  notifier: Pick<Notifier, 'notify'>;
}): RailAccountContext {
  const { production } = config;
  return { db, clock, production, sealer: secrets.sealer, notifyChanged: () => notifier.notify(railAccountsTopic) };
}

/** The context of payments and transfers, which the parts built on them share. */
export type MoneyContext = PaymentContext & TransferContext;

export function createMoneyContext(
  options: MoneyOptions & OutcomeObserver & { planner: DeliveryPlanner },
  address: Address,
  networks: NetworkRegistry,
): MoneyContext & { gathering: GatheringDatabase } {
  const { config, secrets, notifier, clock, random, log, planner, observeOutcome } = options;
  const db = new GatheringDatabase(options.db);
  const aloneMax = balancePermitsOf(config.databaseConnections);
  // The permits of the worker's queues bound what waits.
  const money: MoneyContext & { gathering: GatheringDatabase } = {
    db,
    gathering: db,
    sharedCommits: new SharedCommits(options.db, { aloneMax, name: 'work_commits', waitingMax: Infinity }),
    clock,
    random,
    log,
    networks,
    newId: () => uuidV7(clock, random),
    notifyWorker: (work) => notifier.notify(workTopic(work)),
    planDeliveries: (tx, event) => planner.plan(tx, event),
    merchants: createMerchantDirectory(db, clock),
    breakers: new BreakerCopy(),
    ...(observeOutcome && { observeOutcome }),
    transferOwners: { refund: createRefundOwner(() => money) },
    changes: notifier,
    lists: new ListReader(db),
    settings: {
      publicUrl: address.publicUrl,
      callbackBaseUrl: (railAccount) => (isSimulatedName(railAccount) ? address.internalUrl() : address.publicUrl()),
      intentLifetimeMs: config.intentLifetimeMs,
      settlementDelayMs: config.settlementDelayMs,
      amountMinMinor: config.amountMinMinor,
      amountMaxMinor: config.amountMaxMinor,
      idSecret: secrets.idSecret,
      terminalKey: secrets.terminalKey,
      urlPolicy: urlPolicyOf(config),
    },
  };
  return money;
}

/** What writes the deliveries of events; it hears of changes of endpoints in other processes. */
export function createPlanner({
  notifier,
  clock,
  random,
}: Pick<MoneyOptions, 'clock' | 'random'> & {
  notifier: Pick<Notifier, 'notify' | 'subscribeKind'>;
}): DeliveryPlanner {
  const planner = new DeliveryPlanner({
    clock,
    newId: () => uuidV7(clock, random),
    notifyWorker: (work) => notifier.notify(workTopic(work)),
    scheduleDeliveries: (keys) => scheduleDeliveries(notifier, keys),
    notifyEndpoints: (merchantId) => notifier.notify(`${endpointsTopicKind}:${merchantId}`),
  });
  notifier.subscribeKind(endpointsTopicKind, (merchantId) => planner.forget(merchantId));
  return planner;
}

function scheduleDeliveries(notifier: Pick<Notifier, 'notify'>, keys: readonly string[]): void {
  for (const key of keys) notifier.notify(`${deliveryTopicKind}:${key}`);
}

export function createWebhooks(
  options: AppOptions & { planner: DeliveryPlanner },
  money: MoneyContext,
  { metrics, accounts }: { metrics: Metrics; accounts: AccountContext },
) {
  const { config, secrets, clock, notifier, planner } = options;
  const outbound = createOutboundClient({
    clock,
    policy: { allowPrivate: !config.production, ...ownHosts(config) },
    userAgent: 'Dalasi-Webhooks',
  });
  const context: WebhookContext = {
    ...money,
    planner,
    sealer: secrets.sealer,
    urlPolicy: money.settings.urlPolicy,
    bulkResends: createBulkResendLimiter(),
    outbound,
    signatureHeader: config.signatureHeader,
    mailTrouble: createEndpointMails({ ...accounts, merchants: money.merchants, operatorEmail: config.operatorEmail }),
    observeAttempt: metrics.observeWebhookAttempt,
    scheduleDeliveries: (keys) => scheduleDeliveries(notifier, keys),
  };
  return { context, close: () => outbound.close() };
}

/** What records the heads of the hash chains once a day. */
export function createDailyHeads({ config, secrets, db, clock, log }: AppOptions): DailyHeads {
  return new DailyHeads({ db, clock, log, directory: config.chainDirectory, key: secrets.chainKey });
}

/** Logins, and the mails that they cause. */
export function createAccounts({ config, secrets, db, clock, random, log }: AppOptions, { publicUrl }: Address) {
  const newId = () => uuidV7(clock, random);
  const mails: MailContext = { db, clock, newId, sealer: secrets.sealer, log };
  const context: AccountContext = {
    ...{ db, clock, random, newId, publicUrl },
    ...{ sealer: secrets.sealer, pepper: secrets.pepper },
    sendMail: (tx, mail) => sendMail(tx, mails, mail),
  };
  return { context, mails, mailer: config.smtp === null ? null : createMailer(config.smtp) };
}

// A chat message is not worth a longer wait, and a process that ends waits for the calls under way.
const noticeTimeoutMs = 10_000;
// Telegram responds with the whole message that it sent.
const noticeResponseBytesMax = 32 * 1024;

/** The configured chat channels, in the order in which a live number is tried, and what sending through them needs. */
export function createNotices({ config }: AppOptions, money: MoneyContext) {
  const outbound = createOutboundClient({
    clock: money.clock,
    policy: { allowPrivate: !config.production },
    userAgent: 'Dalasi-Notices',
    totalTimeoutMs: noticeTimeoutMs,
    excerptBytesMax: noticeResponseBytesMax,
  });
  const { whatsapp, telegram } = config;
  const chats = createTelegramChats(money);
  const context: NoticeContext = {
    ...money,
    channelBreaker: new ChannelBreaker(money),
    channels: {
      test: [createDevelopmentChannel({ ...money, keepsMessages: !config.production })],
      live: [
        ...(whatsapp === null ? [] : [createWhatsappChannel(whatsapp, outbound)]),
        ...(telegram === null ? [] : [createTelegramChannel(telegram, outbound, chats)]),
      ],
    },
  };
  const callbacks: ChatCallbackContext = { ...context, chats, whatsapp, telegram };
  return { context, callbacks, close: () => outbound.close() };
}
