import { recordOperatorAct, type OperatorAct } from '../audit/operator-act.ts';
import type { Transaction } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { Operator } from '../operators/operator.ts';
import type { CommandContext } from './command.ts';

/** What an entry says of who acted. */
export type AuditContext = Pick<CommandContext, 'onboarding' | 'shellUser'>;

/**
 * Writes the audit entry of a command, in the transaction of its effect. Nobody is signed in at a shell: the entry names the
 * operator of the credential where the command requires one, and the user of the machine.
 */
export function auditCommand(
  tx: Transaction,
  { onboarding, shellUser }: AuditContext,
  act: OperatorAct,
  operator?: Operator,
): void {
  const from = shellUser === null ? 'command line' : `command line, ${shellUser}`;
  const actorName = operator === undefined ? from : `${operator.name} (${from})`;
  const actor = { actorId: operator?.id ?? null, actorName, sessionId: null, requestId: null, address: null };
  recordOperatorAct(tx, onboarding, actor, act);
}

/** What the entry of a command about a merchant has in common. */
export function aboutMerchant({
  id,
  businessId,
  testMode,
}: Merchant): Pick<OperatorAct, 'businessId' | 'testMode' | 'object'> {
  return { businessId, testMode, object: { type: 'merchant', id } };
}

/** The same for a rule, which may be the default of all merchants. */
export function aboutOwner(owner: Merchant | 'default'): Pick<OperatorAct, 'businessId' | 'testMode' | 'object'> {
  return owner === 'default' ? { object: { type: 'defaults', id: null } } : aboutMerchant(owner);
}
