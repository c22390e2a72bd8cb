import { endInvitationsOfOperator } from '../../accounts/team.ts';
import type { Transaction } from '../../kit/db.ts';
import { listOperatorLogins, revokeOperator } from '../../operators/manage-operators.ts';

/** Revokes an operator, for the command and the console alike. Returns false where it was done before, and does nothing then. */
export async function endOperator(tx: Transaction, operator: { id: string; revokedAt: Date }): Promise<boolean> {
  if ((await revokeOperator(tx, operator)) === 0) return false;
  await endInvitations(tx, operator.id);
  return true;
}

/** Ends the open invitations to owners of businesses that an operator has sent who may send none any more. */
export async function endInvitations(tx: Transaction, operatorId: string): Promise<void> {
  const login = (await listOperatorLogins(tx)).find((each) => each.operatorId === operatorId);
  // One for commands only has sent none.
  if (login) endInvitationsOfOperator(tx, login.accountId);
}
