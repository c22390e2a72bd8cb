import type { AccountContext } from '../../accounts/context.ts';
import { agreeFactorLost, type Agreed } from '../../accounts/lost-factor.ts';
import { fieldError } from '../../api/app-error.ts';
import type { OperatorAct } from '../../audit/operator-act.ts';
import type { Transaction } from '../../kit/db.ts';
import { listOperators } from '../../operators/manage-operators.ts';

const evidenceLengthMin = 10;
const evidenceLengthMax = 2_000;

/** An operator agrees that somebody has lost their second factor, for the command and the console alike; with its audit entry. Throws AppError. */
export async function agreeLost(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'sendMail' | 'publicUrl'> & { operator: { id: string } },
  { businessId, email, evidence }: { businessId: string; email: string; evidence: string },
): Promise<Agreed & { act: OperatorAct }> {
  const { length } = evidence.trim();
  if (length < evidenceLengthMin || length > evidenceLengthMax) {
    const message = `Write in ${evidenceLengthMin} to ${evidenceLengthMax} characters how you have made sure who asks.`;
    throw fieldError('invalid_request', 'evidence', message);
  }
  const operators = await listOperators(tx);
  const agreed = await agreeFactorLost(tx, context, {
    ...{ businessId, email, operatorId: context.operator.id },
    operatorIds: operators.filter(({ revokedAt }) => revokedAt === null).map(({ id }) => id),
  });
  const action = agreed.removed ? 'logins.remove_factor' : 'logins.lost_factor';
  const act = { action, businessId, object: { type: 'login', id: agreed.account.id }, sent: { email, evidence } };
  return { ...agreed, act };
}
