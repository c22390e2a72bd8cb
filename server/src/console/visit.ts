import type { FastifyRequest } from 'fastify';
import { operatorPermission, operatorRoles, type OperatorAction, type OperatorRole } from '../accounts/permissions.ts';
import type { SignedIn } from '../accounts/sessions.ts';
import { AppError } from '../api/app-error.ts';
import type { Html } from '../kit/html.ts';
import { findOperatorLogin } from '../operators/manage-operators.ts';
import type { Environment } from '../portal/environment.ts';
import type { PortalVisit } from '../portal/patterns/page-route.ts';
import type { ConsoleServices } from './services.ts';

/**
 * One request of an operator, with what its page reads and acts with; `base` is `/operator`, or `/operator/test` where it is about
 * one environment.
 */
export interface ConsoleVisit extends PortalVisit<OperatorAction>, ConsoleServices {
  operator: { id: string; name: string; role: OperatorRole };
  /** Null on pages that concern both. */
  environment: Environment | null;
}

export const consoleHome = '/operator';

/** Read for each request, so that whoever was revoked is out at once. Throws AppError `not_found`. */
export async function findVisit(
  services: ConsoleServices,
  request: FastifyRequest,
  signedIn: SignedIn,
  { environment, guardField }: { environment: Environment | null; guardField: Html },
): Promise<ConsoleVisit> {
  const { accounts } = services;
  const login = await findOperatorLogin(accounts.db, signedIn.account.id);
  const role = operatorRoles.find((each) => each === login?.role);
  if (!login || login.revokedAt !== null || !role) throw new AppError('not_found', 'You are no operator here.');
  return {
    ...services,
    ...signedIn,
    requestId: request.id,
    address: request.ip,
    operator: { id: login.operatorId, name: login.name, role },
    environment,
    base: environment === null ? consoleHome : `${consoleHome}/${environment}`,
    fileHead: environment === null ? ['operator'] : ['operator', environment],
    accountPath: `${consoleHome}/account`,
    now: accounts.clock.now(),
    guardField,
    may: (action) => operatorPermission(role, action),
  };
}
