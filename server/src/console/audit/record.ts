import { installationId } from '../../audit/audit-entry.ts';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { Transaction } from '../../kit/db.ts';
import type { ConsoleServices } from '../services.ts';
import type { ConsoleVisit } from '../visit.ts';

interface OperatorAct {
  /** `businesses.suspend`. */
  action: string;
  object: { type: string; id: string | null };
  /** Of a business; left out for what concerns the installation. */
  businessId?: string;
  testMode?: boolean;
  sent?: unknown;
  before?: unknown;
}

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

/** Writes the audit entry of an operator's action, in the transaction of its effect. */
export function audit(tx: Transaction, { accounts }: ConsoleServices, visit: ConsoleVisit, act: OperatorAct): void {
  recordAudit(tx, accounts, {
    businessId: act.businessId ?? installationId,
    testMode: act.testMode ?? null,
    actorType: 'operator',
    actorId: visit.account.id,
    actorName: visit.operator.name,
    action: act.action,
    objectType: act.object.type,
    objectId: act.object.id,
    changes: maskedChanges(act.sent ?? {}, act.before ?? {}),
    sessionId: visit.session.id,
    requestId: visit.requestId,
    address: visit.address,
  });
}
