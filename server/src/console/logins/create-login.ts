import type { AccountContext } from '../../accounts/context.ts';
import { prepareLogin } from '../../accounts/prepare-login.ts';
import { operatorRoles, type OperatorRole } from '../../accounts/permissions.ts';
import { AppError, fieldError } from '../../api/app-error.ts';
import type { Transaction } from '../../kit/db.ts';
import { createOperator, findOperatorLogin, insertOperatorLogin } from '../../operators/manage-operators.ts';
import type { OperatorLogin } from '../../operators/operator.ts';

export type LoginContext = Pick<AccountContext, 'clock' | 'random' | 'newId' | 'publicUrl'> & { pepper: Uint8Array };

export interface NewLogin {
  email: string;
  name: string;
  role: string;
}

/**
 * Makes an operator who signs in to the console, for the command and the console alike. Once more for the same address returns
 * the same operator with a new link, until the password is chosen. Throws AppError that names each field, and `state_conflict`.
 */
export async function createLogin(
  tx: Transaction,
  context: LoginContext,
  { email, name, role }: NewLogin,
): Promise<{ login: OperatorLogin; link: string | null }> {
  const chosen = operatorRoles.find((each) => each === role);
  if (!chosen) throw fieldError('invalid_request', 'role', `A role is ${operatorRoles.join(', ')}.`);
  const { account, link } = await prepareLogin(tx, context, { email, name });
  const existing = await findOperatorLogin(tx, account.id);
  if (!existing) return { login: await insertLogin(tx, context, { account, role: chosen }), link };
  if (existing.revokedAt !== null) throw new AppError('state_conflict', 'This operator has been revoked.');
  if (existing.role !== chosen) {
    throw fieldError('invalid_request', 'role', `This address has a login already, with the role ${existing.role}.`);
  }
  return { login: existing, link };
}

async function insertLogin(
  tx: Transaction,
  context: LoginContext,
  { account, role }: { account: { id: string; name: string }; role: OperatorRole },
): Promise<OperatorLogin> {
  // Its credential is shown to nobody: this operator decides cases in the console.
  const { operator } = await createOperator(tx, context, account.name);
  const login = { accountId: account.id, operatorId: operator.id, role };
  tx.send(insertOperatorLogin({ ...login, createdAt: operator.createdAt }));
  return { ...login, name: operator.name, revokedAt: null };
}
