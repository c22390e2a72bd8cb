import type { Static, TSchema } from 'typebox';
import { maskedChanges } from '../../audit/masked-fields.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { Transaction } from '../../kit/db.ts';
import type { Visit } from '../visit.ts';

interface ApiAction<Schema extends TSchema> {
  operationId: string;
  /** Of the response. */
  schema: Schema;
  params?: Readonly<Record<string, string>>;
  body?: unknown;
  /** The form's own id, so that two taps act once. */
  formId?: string | undefined;
  /** True where a refused form may be sent again later, when what stood against it is gone. */
  forgetsRefusals?: boolean;
  /** What is acted on; for what is created, `id` comes from the response. */
  object: { type: string; id?: string };
  /** The record as it was, for what the audit log shows of a change. */
  before?: unknown;
  /** What else belongs to it, such as a mail, written in the same transaction. */
  alsoWrite?: (tx: Transaction, response: Static<Schema>) => void;
}

/** Calls a writing route of the API for a person, with the audit entry in the same transaction. Throws what the route throws. */
export function act<Schema extends TSchema>(
  visit: Visit,
  { operationId, schema, params, body, formId, forgetsRefusals, object, before, alsoWrite }: ApiAction<Schema>,
): Promise<Static<Schema>> {
  return visit.api.call(operationId, schema, {
    ...(params && { params }),
    ...(body !== undefined && { body }),
    ...(formId !== undefined && { idempotencyKey: keyOfForm(formId) }),
    forgetsRefusals,
    alsoWrite: (tx, response) => {
      const created = (response as { id?: unknown }).id;
      const objectId = object.id ?? (typeof created === 'string' ? created : null);
      audit(tx, visit, {
        action: operationId,
        object: { type: object.type, id: objectId },
        changes: maskedChanges(body ?? {}, before),
      });
      alsoWrite?.(tx, response as Static<Schema>);
    },
  });
}

export interface OwnAction {
  action: string;
  object: { type: string; id: string };
  before: Readonly<Record<string, unknown>>;
  after: Readonly<Record<string, unknown>>;
  /** True for what concerns both environments, such as the team. */
  isForBoth?: boolean;
}

/**
 * Does what is no API route, with its audit entry in the same transaction. What is as it was already is not done, and leaves no
 * entry. Throws what `effect` throws.
 */
export async function change(
  visit: Visit,
  { before, after, ...action }: OwnAction,
  effect: (tx: Transaction) => Promise<unknown>,
): Promise<void> {
  if (Object.entries(after).every(([name, value]) => before[name] === value)) return;
  await visit.accounts.db.withTransaction(async (tx) => {
    await effect(tx);
    audit(tx, visit, { ...action, changes: maskedChanges(after, before) });
  });
}

/** The idempotency key of what a form does, so that its button acts once however often it is pressed. */
export function keyOfForm(formId: string): string {
  return `dashboard ${formId}`;
}

interface AuditedAction {
  action: string;
  object: { type: string; id: string | null };
  changes: ReturnType<typeof maskedChanges>;
  /** True for what concerns both environments, such as the team. */
  isForBoth?: boolean;
}

/** Writes the audit entry of an action that is not the API's, such as a change of the team. */
export function audit(tx: Transaction, visit: Visit, action: AuditedAction): void {
  recordAudit(tx, visit.accounts, {
    businessId: visit.merchant.businessId,
    testMode: action.isForBoth === true ? null : visit.testMode,
    actorType: 'member',
    actorId: visit.account.id,
    actorName: visit.account.name,
    action: action.action,
    objectType: action.object.type,
    objectId: action.object.id,
    changes: action.changes,
    sessionId: visit.session.id,
    requestId: visit.requestId,
    address: visit.address,
  });
}
