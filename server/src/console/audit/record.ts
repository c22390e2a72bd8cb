import { recordOperatorAct, type OperatorAct } from '../../audit/operator-act.ts';
import type { Transaction } from '../../kit/db.ts';
import type { ConsoleVisit } from '../visit.ts';

/** Does something, with its audit entry in the same transaction. Throws what `effect` throws. */
export function actAudited<Result>(
  visit: ConsoleVisit,
  act: OperatorAct,
  effect: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return visit.money.db.withTransaction(async (tx) => {
    const result = await effect(tx);
    audit(tx, visit, act);
    return result;
  });
}

/** Writes the audit entry of what somebody who is signed in does, in the transaction of its effect. */
export function audit(tx: Transaction, visit: ConsoleVisit, act: OperatorAct): void {
  const { accounts, account, operator, session, requestId, address } = visit;
  const actor = { actorId: account.id, actorName: operator.name, sessionId: session.id, requestId, address };
  recordOperatorAct(tx, accounts, actor, act);
}
