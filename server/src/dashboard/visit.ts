import type { FastifyRequest } from 'fastify';
import { merchantPermission, type MerchantAction } from '../accounts/permissions.ts';
import type { SignedIn } from '../accounts/sessions.ts';
import { findMembership, type Membership } from '../accounts/team.ts';
import { AppError } from '../api/app-error.ts';
import type { Html } from '../kit/html.ts';
import { getBusiness, type Business } from '../merchants/business-status.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { CollectingConnector } from '../networks/contract.ts';
import type { Environment } from '../portal/environment.ts';
import type { PortalVisit } from '../portal/patterns/page-route.ts';
import type { DashboardServices } from './services.ts';
import { visitApi, type VisitApi } from './visit-api.ts';

/**
 * One request of a signed-in person to the dashboard of one business in one environment, with what its page reads and acts with;
 * `base` is `/dashboard/test/Ab12Cd34`.
 */
export interface Visit extends PortalVisit<MerchantAction>, Omit<DashboardServices, 'api'> {
  /** The API's routes, called for this merchant: what a page changes, it changes through them. */
  api: VisitApi;
  membership: Membership;
  merchant: Merchant;
  /** What its owner and the operator have decided for both environments. */
  business: Business;
  testMode: boolean;
  /** Whether payers send money straight to a number of its own (docs/receipts.md). */
  takesReceipts: boolean;
}

export function basePath(environment: Environment, shortId: string): string {
  return `/dashboard/${environment}/${shortId}`;
}

/** The same business's base in the other environment, which has other records. */
export async function otherBase({ money, merchant, testMode }: Visit): Promise<string> {
  const merchants = await money.merchants.ofBusiness(merchant.businessId);
  const other = merchants.find((each) => each.testMode !== testMode) ?? merchant;
  return basePath(other.testMode ? 'test' : 'live', other.shortId);
}

/**
 * Read for each request, so that a role that was taken away is gone at once. Throws AppError `not_found` to everybody who is not
 * in the business's team, and for an address that names the other environment.
 */
export async function findVisit(
  services: DashboardServices,
  request: FastifyRequest,
  signedIn: SignedIn,
  { environment, shortId, guardField }: { environment: Environment; shortId: string; guardField: Html },
): Promise<Visit> {
  const { money, accounts } = services;
  const merchant = await money.merchants.byShortId(shortId);
  const testMode = environment === 'test';
  const membership =
    merchant?.testMode === testMode
      ? await findMembership(accounts.db, merchant.businessId, signedIn.account.id)
      : undefined;
  if (!merchant || !membership) throw new AppError('not_found', 'You are in no such team.');
  return {
    ...services,
    ...signedIn,
    api: visitApi(services.api, { caller: { merchantId: merchant.id, testMode }, requestId: request.id }),
    requestId: request.id,
    address: request.ip,
    membership,
    merchant,
    business: await getBusiness(accounts.db, merchant.businessId),
    testMode,
    takesReceipts: money.networks.collecting(merchant, isByReceipts).length > 0,
    base: basePath(environment, merchant.shortId),
    // A name without a Latin letter would leave nothing of itself.
    fileHead: [/[a-z0-9]/i.test(merchant.name) ? merchant.name : merchant.shortId, environment],
    accountPath: '/dashboard/account',
    now: accounts.clock.now(),
    guardField,
    may: (action) => merchantPermission(membership.role, action, { testMode }),
  };
}

function isByReceipts({ collections }: CollectingConnector): boolean {
  return collections.capabilities.shape === 'receipt';
}
