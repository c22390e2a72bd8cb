import type { Clock } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { installationId, type AuditEntry } from './audit-entry.ts';
import { maskedChanges } from './masked-fields.ts';
import { recordAudit } from './record-audit.ts';

/** Which operator acts, and from where: signed in to the console, or from a shell. */
export type OperatorActor = Pick<AuditEntry, 'actorId' | 'actorName' | 'sessionId' | 'requestId' | 'address'>;

/** What an operator does. */
export interface OperatorAct {
  /** `businesses.suspend`. */
  action: string;
  object: { type: string; id: string | null };
  /** Of a business; left out for what concerns the installation. */
  businessId?: string;
  /** Left out for what concerns both environments. */
  testMode?: boolean;
  sent?: unknown;
  before?: unknown;
}

/** Writes the audit entry of an operator's action, in the transaction of its effect. */
export function recordOperatorAct(
  tx: Transaction,
  context: { clock: Clock; newId: () => string },
  actor: OperatorActor,
  { action, object, businessId = installationId, testMode, sent = {}, before = {} }: OperatorAct,
): void {
  recordAudit(tx, context, {
    ...{ ...actor, actorType: 'operator', businessId, testMode: testMode ?? null, action },
    ...{ objectType: object.type, objectId: object.id, changes: maskedChanges(sent, before) },
  });
}
