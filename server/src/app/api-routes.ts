import { customerRoutes } from '../customers/routes.ts';
import type { ApiRoute } from '../api/route.ts';
import { linkRoutes } from '../links/routes.ts';
import { paymentRoutes } from '../payments/routes.ts';
import { settlementRoutes } from '../settlement/routes.ts';
import { subAccountGroupRoutes } from '../sub-accounts/group-routes.ts';
import { subAccountRoutes } from '../sub-accounts/routes.ts';
import { posterRoutes } from '../posters/routes.ts';
import { refundRoutes } from '../refunds/routes.ts';
import { terminalRoutes } from '../terminals/routes.ts';
import { terminalSummaryRoutes, transactionRoutes } from '../transactions/routes.ts';
import { transferRoutes } from '../transfers/routes.ts';
import { eventRoutes } from '../webhooks/event-routes.ts';
import { endpointRoutes } from '../webhooks/routes.ts';

/** Every route of the API in the order of the reference, without contexts: for the OpenAPI document. */
export const apiRoutes: readonly ApiRoute<never>[] = [
  ...paymentRoutes,
  ...transactionRoutes,
  ...refundRoutes,
  ...transferRoutes,
  ...customerRoutes,
  ...subAccountRoutes,
  ...settlementRoutes,
  ...subAccountGroupRoutes,
  ...linkRoutes,
  ...terminalRoutes,
  ...posterRoutes,
  ...terminalSummaryRoutes,
  ...endpointRoutes,
  ...eventRoutes,
];
