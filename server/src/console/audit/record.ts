import { recordOperatorAct } from '../../audit/operator-act.ts';
import type { OperatorAct } from '../../audit/operator-act.ts';
import type { Transaction } from '../../kit/db.ts';
import type { ConsoleServices } from '../services.ts';
import type { ConsoleVisit } from '../visit.ts';

/** Does something, with its audit entry in the same transaction. Throws what `effect` throws. */
export function actAudited<Result>(
  services: ConsoleServices,
  visit: ConsoleVisit,
  act: OperatorAct,
  effect: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return services.money.db.withTransaction(async (tx) => {
    const result = await effect(tx);
    audit(tx, services, visit, act);
    return result;
  });
}

/** Writes the audit entry of what somebody who is signed in does, in the transaction of its effect. */
export function audit(tx: Transaction, { accounts }: ConsoleServices, visit: ConsoleVisit, act: OperatorAct): void {
  const { account, operator, session, requestId, address } = visit;
  const actor = { actorId: account.id, actorName: operator.name, sessionId: session.id, requestId, address };
  recordOperatorAct(tx, accounts, actor, act);
}
