import { bindRoutes, type ApiRoute, type BoundRoute } from '../api/route.ts';
import { customerRoutes } from '../customers/routes.ts';
import { linkRoutes } from '../links/routes.ts';
import { readChatDelivery } from '../notifications/chat-delivery.ts';
import { forgetCustomer } from '../payments/forget-customer.ts';
import { paymentRoutes } from '../payments/routes.ts';
import type { PosterRenderer } from '../posters/poster-renderer.ts';
import { posterRoutes } from '../posters/routes.ts';
import { reconciliationRoutes } from '../reconciliation/routes.ts';
import { refundRoutes } from '../refunds/routes.ts';
import { settlementRoutes } from '../settlement/routes.ts';
import { subAccountGroupRoutes } from '../sub-accounts/group-routes.ts';
import { subAccountRoutes } from '../sub-accounts/routes.ts';
import { terminalRoutes } from '../terminals/routes.ts';
import { terminalSummaryRoutes, transactionRoutes } from '../transactions/routes.ts';
import { transferRoutes } from '../transfers/routes.ts';
import type { WebhookContext } from '../webhooks/context.ts';
import { eventRoutes } from '../webhooks/event-routes.ts';
import { endpointRoutes } from '../webhooks/routes.ts';
import type { MoneyContext } from './contexts.ts';

/** What the contexts of the routes are made of. */
export interface RouteContexts {
  money: MoneyContext;
  endpoints: WebhookContext;
  posters: PosterRenderer;
}

/** One array of routes, and how it gets its context. */
interface RouteArray {
  routes: readonly ApiRoute<never>[];
  bind(contexts: RouteContexts): BoundRoute[];
}

function routesWith<Context>(
  contextOf: (contexts: RouteContexts) => Context,
  routes: readonly ApiRoute<Context>[],
): RouteArray {
  return { routes, bind: (contexts) => bindRoutes(routes, contextOf(contexts)) };
}

const money = (contexts: RouteContexts): MoneyContext => contexts.money;
const endpoints = (contexts: RouteContexts): WebhookContext => contexts.endpoints;

// In the order of the reference. The document and the server are made of this one table, so that neither has a route that the
// other lacks.
const table: readonly RouteArray[] = [
  routesWith(money, paymentRoutes),
  routesWith(money, transactionRoutes),
  routesWith(money, refundRoutes),
  routesWith(money, transferRoutes),
  routesWith((contexts) => ({ ...contexts.money, forgetInPayments: forgetCustomer }), customerRoutes),
  routesWith(money, subAccountRoutes),
  routesWith(money, settlementRoutes),
  routesWith(money, subAccountGroupRoutes),
  routesWith(money, linkRoutes),
  routesWith((contexts) => ({ ...contexts.money, chatDelivery: readChatDelivery }), terminalRoutes),
  routesWith((contexts) => ({ ...contexts.money, posters: contexts.posters }), posterRoutes),
  routesWith(money, terminalSummaryRoutes),
  routesWith(money, reconciliationRoutes),
  routesWith(endpoints, endpointRoutes),
  routesWith(endpoints, eventRoutes),
];

/** Every route of the API, without contexts: for the OpenAPI document. */
export const apiRoutes: readonly ApiRoute<never>[] = table.flatMap(({ routes }) => routes);

/** The same routes with their contexts: for the server. */
export function bindApiRoutes(contexts: RouteContexts): BoundRoute[] {
  return table.flatMap(({ bind }) => bind(contexts));
}
