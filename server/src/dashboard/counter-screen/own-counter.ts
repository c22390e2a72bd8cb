import { AppError } from '../../api/app-error.ts';
import { getTerminal, getTerminalForPayment } from '../../terminals/manage-terminals.ts';
import type { VirtualTerminal } from '../../terminals/terminal.ts';
import { listMemberships } from '../../accounts/team.ts';
import type { DashboardServices } from '../services.ts';
import { ifFound } from '../patterns/if-found.ts';
import { basePath, type Visit } from '../visit.ts';

/** Throws AppError `not_found`, also for a counter that is not the cashier's. */
export async function findOwnCounter(
  { money, merchant, membership, may }: Visit,
  id: string | undefined,
): Promise<VirtualTerminal> {
  const { isAllowed, ownOnly } = may('counters.use');
  const isOwn = id !== undefined && membership.terminalIds.includes(id);
  if (id === undefined || !isAllowed || (ownOnly && !isOwn)) {
    throw new AppError('not_found', 'There is no such counter in this environment.');
  }
  return getTerminal(money.db, merchant.id, id);
}

/** The screen of a counter of one of the person's businesses. Throws AppError `not_found`. */
export async function findScreenPath(
  { money, accounts }: DashboardServices,
  accountId: string,
  id: string | undefined,
): Promise<string> {
  for (const { businessId } of await listMemberships(accounts.db, accountId)) {
    for (const { id: merchantId, testMode, shortId } of await money.merchants.ofBusiness(businessId)) {
      const counter = await ifFound(getTerminalForPayment(money.db, merchantId, id ?? ''));
      if (counter) return `${basePath(testMode ? 'test' : 'live', shortId)}/counters/${counter.id}/screen`;
    }
  }
  throw new AppError('not_found', 'There is no such counter.');
}
