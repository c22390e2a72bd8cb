import type { FastifyInstance } from 'fastify';
import { apiRoutes, bindApiRoutes } from '../app/api-routes.ts';
import type { AccountContext } from '../accounts/context.ts';
import type { Address, AppOptions, MoneyContext } from '../app/contexts.ts';
import { createCaseContext } from '../app/case-context.ts';
import { consolePages } from '../console/console-pages.ts';
import type { ConsoleServices } from '../console/services.ts';
import { registerApi } from '../http/api-routes.ts';
import { dashboardPages } from '../dashboard/dashboard-pages.ts';
import { createInProcessApi, type InProcessApi } from '../http/in-process-api.ts';
import { createMerchantLimiters } from '../http/merchant-limiters.ts';
import { networkCallbacks } from '../http/network-callbacks.ts';
import { networkMessages } from '../http/network-messages.ts';
import { refuseOverload } from '../http/refuse-overload.ts';
import { UnverifiedLimit } from '../http/unverified-limit.ts';
import type { ProviderNotification } from '../networks/contract.ts';
import { loadTemplates } from '../networks/receipts/load-templates.ts';
import { eventBodySchemas } from '../app/event-schemas.ts';
import { describeApi } from '../http/openapi.ts';
import { KeylessLimit } from '../http/keyless-limit.ts';
import type { Metrics } from '../http/metrics.ts';
import { RateLimiter } from '../http/rate-limit.ts';
import type { Pace } from '../kit/pace.ts';
import type { SharedCommits } from '../kit/shared-commits.ts';
import { createPageLimit } from '../links/page-limit.ts';
import { createKeyAuthenticator } from '../merchants/authenticate-key.ts';
import type { RequestLog } from '../request-log/request-log.ts';
import { KeyAddresses } from '../merchants/key-addresses.ts';
import type { KeyUses } from '../merchants/key-uses.ts';
import { waveTestAccount } from '../networks/wave/test-account.ts';
import { simulatorRoutes } from '../../../simulator/routes.ts';
import type { Simulator } from '../../../simulator/simulator.ts';
import { chatCallbacks, type ChatCallbackContext } from '../notifications/callbacks.ts';
import { listChatMessages } from '../notifications/development/channel.ts';
import { chatPages } from '../pages/chat/chat-pages.ts';
import { collectPages } from '../pages/collect/collect-pages.ts';
import { createCollectTargets } from '../pages/collect/collect-targets.ts';
import { checkoutPages } from '../pages/checkout/checkout-pages.ts';
import { createCheckoutRenderer } from '../pages/checkout/checkout-renderer.ts';
import { logoPages } from '../pages/logos/logo-pages.ts';
import { readNetworkDetails } from '../pages/logos/network-details.ts';
import { findLogo } from '../merchants/logo/merchant-logo.ts';
import { listMailbox, type MailContext } from '../mail/mail.ts';
import { mailPages } from '../pages/mail/mail-pages.ts';
import { homePages } from '../pages/home/home-pages.ts';
import { onboardBusiness } from '../operator/onboard-business.ts';
import { portalPages } from '../portal/portal-pages.ts';
import { phonePages } from '../../../simulator/phone/phone-pages.ts';
import type { ApiDocument } from '../pages/reference/api-document.ts';
import { referencePages } from '../pages/reference/reference-pages.ts';
import { createCheckout } from '../payments/checkout.ts';
import { findChargeOfReference } from '../payments/apply-response.ts';
import { findTransferOfReference } from '../transfers/jobs.ts';
import { createPosterRenderer } from '../posters/poster-renderer.ts';
import { phoneAccess, phoneLink, simulatedPhoneUrl } from '../app/phone-access.ts';
import type { ConnectedAccounts } from '../rail-accounts/connected-accounts.ts';
import type { RailAccountContext } from '../rail-accounts/manage-accounts.ts';
import { createGuessLimit } from '../terminals/guess-limit.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { inboxTopic } from '../app/work-queues.ts';

export interface ServedParts {
  address: Address;
  money: MoneyContext;
  commits: SharedCommits;
  /** Of each merchant's payouts. */
  pace: Pace;
  keyUses: KeyUses;
  requestLog: RequestLog;
  endpoints: WebhookContext;
  callbacks: ChatCallbackContext;
  accounts: { context: AccountContext; mails: MailContext };
  simulator: Simulator;
  /** What operators connect networks with, and what this process has connected. */
  railAccounts: { context: RailAccountContext; connected: ConnectedAccounts };
  /** What counts in `/metrics`. */
  metrics: Pick<Metrics, 'watchLimiter' | 'observeCallback' | 'observeMessage'>;
  /** Aborts when the process begins to stop. */
  closing: AbortSignal;
}

/** Registers everything that serves requests: the API, callbacks of networks, the simulated networks, and the pages. */
export async function serve(server: FastifyInstance, options: AppOptions, parts: ServedParts): Promise<void> {
  const { config, secrets, log } = options;
  const { publicUrl } = parts.address;
  const { runContext, routes } = await serveApi(server, options, parts);
  await payerPages(server, { options, parts });
  await phonePages(server, {
    simulator: parts.simulator,
    log,
    publicUrl,
    formKey: secrets.formKey,
    phoneAccess: phoneAccess(config, secrets),
  });
  if (!config.production) await developmentPages(server, { options, parts });
  await memberPages(server, { options, parts, api: createInProcessApi(runContext, routes) });
  await operatorPages(server, { options, parts });
  await homePages(server, { publicUrl, offersPhone: !config.production });
  await referencePages(server, {
    describeApi: describeOnce,
    publicUrl,
    signatureHeader: config.signatureHeader,
  });
}

/** What programs call: the API, callbacks of networks, and the simulated networks. */
export async function serveApi(server: FastifyInstance, options: AppOptions, parts: ServedParts) {
  const { config, secrets, keyring, db, clock, log } = options;
  const { address, money, endpoints, simulator, metrics } = parts;
  const { publicUrl } = address;
  const posters = createPosterRenderer({ clock });
  server.addHook('onClose', () => posters.close()).decorate('trustsHostHeader', !config.production);
  const limiters = createMerchantLimiters(config.databaseConnections, parts.pace);
  // No worker claims anything from then on.
  parts.closing.addEventListener('abort', () => parts.pace.end());
  const others = [posters.limiter, money.lists.searches, endpoints.bulkResends];
  for (const limiter of [...Object.values(limiters), ...others]) metrics.watchLimiter(limiter);
  const runContext = { db, commits: parts.commits, clock, sealer: secrets.sealer, docsUrl: publicUrl, limiters };
  const routes = bindApiRoutes({ money, endpoints, posters });
  await server.register(async (api) => {
    const { all, ofMerchants } = refuseOverload(api);
    for (const limiter of [all, ofMerchants]) metrics.watchLimiter(limiter);
    registerApi(api, {
      ...runContext,
      log,
      authenticator: createKeyAuthenticator(db, clock, secrets.pepper, () => keyring.recordPepperVerified()),
      keyUses: parts.keyUses,
      keyAddresses: new KeyAddresses(money),
      newId: money.newId,
      requestLog: parts.requestLog,
      keylessLimit: new KeylessLimit(clock, config.rateLimitKeyless),
      rateLimiter: new RateLimiter(db, clock, {
        liveRequestsPerSecond: config.rateLimitLive,
        testRequestsPerSecond: config.rateLimitTest,
        keyPercent: config.rateLimitKeyPercent,
      }),
      routes,
    });
  });
  await fromNetworks(server, { options, parts });
  await server.register(
    simulatorRoutes({
      ...{ simulator, db, clock, log, publicUrl, closing: parts.closing, bearerSecret: secrets.simulatorBearerSecret },
      webhookUrl: () => `${address.internalUrl()}/networks/${waveTestAccount}/callbacks`,
      approvalWindowMs: config.intentLifetimeMs,
      businessNameOf: async (account) => (await money.merchants.byShortId(account))?.name ?? '',
    }),
  );
  return { runContext, routes };
}

/** What networks, the phones of shops and chat channels send. */
async function fromNetworks(server: FastifyInstance, { options, parts }: { options: AppOptions; parts: ServedParts }) {
  const { config, notifier } = options;
  const { money, metrics } = parts;
  const unverified = new UnverifiedLimit(money);
  await server.register(networkCallbacks, {
    ...{ ...money, unverified, observeCallback: metrics.observeCallback },
    notifyInbox: () => notifier.notify(inboxTopic),
    isOurs: async ({ operation, reference }: ProviderNotification) => {
      const find = operation === 'collection' ? findChargeOfReference : findTransferOfReference;
      return (await find(money, reference)) !== undefined;
    },
  });
  await server.register(networkMessages, {
    ...{ ...money, unverified },
    templates: loadTemplates(config.receiptTemplates),
    currencyOf: async (merchantId: string) => (await money.merchants.byId(merchantId))?.currency,
    observeMessage: metrics.observeMessage,
  });
  await server.register(chatCallbacks, {
    ...parts.callbacks,
    countRefused: (channel: string, request: { ip: string; id: string }) =>
      unverified.count('chat channel callback', request, { reason: 'signature', source: channel, isKnown: true }),
  });
}

interface SignedInOptions {
  options: AppOptions;
  parts: ServedParts;
}

/** The pages of businesses' people, and the sign-in to them. */
export async function memberPages(
  server: FastifyInstance,
  { options, parts, api }: SignedInOptions & { api: InProcessApi },
) {
  const { config, clock, secrets } = options;
  const { money, endpoints } = parts;
  const accounts = parts.accounts.context;
  const { isSignUpOpen } = config;
  const pageOptions = signedInOptions({ options, parts });
  const createBusiness = createBusinessOf(parts);
  await portalPages(server, { ...pageOptions, context: accounts, isSignUpOpen, createBusiness });
  const keys = { clock, random: money.random, newId: money.newId, pepper: secrets.pepper };
  const services = { describeApi: describeOnce, api, money, accounts, webhooks: endpoints, keys, rateLimits: config };
  await dashboardPages(server, { ...pageOptions, services });
}

/** The pages of operators. */
export async function operatorPages(server: FastifyInstance, { options, parts }: SignedInOptions) {
  const { config, clock, secrets } = options;
  const { money, endpoints } = parts;
  const services: ConsoleServices = {
    ...{
      money,
      accounts: parts.accounts.context,
      cases: createCaseContext(money),
      webhooks: endpoints,
      keys: { clock, random: money.random, newId: money.newId, pepper: secrets.pepper },
      rateLimits: config,
      createBusiness: createBusinessOf(parts),
      railAccounts: { ...parts.railAccounts, publicUrl: parts.address.publicUrl },
    },
    receiptTemplates: config.receiptTemplates,
    expectsBackups: config.expectsBackups,
    phoneLink: ({ shortId }) => phoneLink(config, secrets, { publicUrl: parts.address.publicUrl(), shortId }),
  };
  await consolePages(server, { ...signedInOptions({ options, parts }), services });
}

function signedInOptions({ options: { log, secrets }, parts }: SignedInOptions) {
  return { log, publicUrl: parts.address.publicUrl, formKey: secrets.formKey };
}

function createBusinessOf({ endpoints }: ServedParts): ConsoleServices['createBusiness'] {
  return async (tx, business) => {
    const { test } = await onboardBusiness(tx, { ...endpoints }, business);
    return { businessId: test.merchant.businessId };
  };
}

/** The pages that payers see: checkout, links and counters, and the logos on them. */
export async function payerPages(
  server: FastifyInstance,
  { options, parts }: { options: AppOptions; parts: ServedParts },
) {
  const { config, secrets, db, notifier, clock, log } = options;
  const { address, money } = parts;
  const { publicUrl } = address;
  const { formKey } = secrets;
  const checkout = createCheckout(money);
  const networkDetails = readNetworkDetails(config);
  const renderer = createCheckoutRenderer({
    clock,
    publicUrl,
    formKey,
    networkDetails,
    simulatedPhoneUrl: (view) => simulatedPhoneUrl(config, publicUrl(), view),
  });
  await checkoutPages(server, { checkout, changes: notifier, clock, publicUrl, log, renderer });
  const pageLimit = createPageLimit(db, clock, config.rateLimitPages);
  const guessLimit = createGuessLimit(db, clock, config.rateLimitCodes);
  const targets = createCollectTargets({ ...money, pageLimit, guessLimit, checkout });
  const { random } = money;
  await collectPages(server, {
    ...{ targets, log, random, networkDetails, publicUrl, formKey },
    checkoutRenderer: renderer,
  });
  await logoPages(server, {
    merchants: money.merchants,
    findLogo: (merchantId) => findLogo(db, merchantId),
    networks: networkDetails,
  });
}

let described: Promise<ApiDocument> | undefined;

/** For the reference and for the dashboard: the same in every service of this program. */
function describeOnce(): Promise<ApiDocument> {
  // Written by our own generator, so its shape is known.
  described ??= describeApi(apiRoutes, eventBodySchemas) as Promise<ApiDocument>;
  return described;
}

/** What nobody sends while developing: chat messages and mails. */
async function developmentPages(
  server: FastifyInstance,
  { options, parts }: { options: AppOptions; parts: ServedParts },
) {
  const { secrets, db, log } = options;
  const { publicUrl } = parts.address;
  const listMessages = (number: string) => listChatMessages(db, number);
  await chatPages(server, { listMessages, log, publicUrl, formKey: secrets.formKey });
  const listMails = () => listMailbox(parts.accounts.mails);
  await mailPages(server, { listMailbox: listMails, log, publicUrl, formKey: secrets.formKey });
}
