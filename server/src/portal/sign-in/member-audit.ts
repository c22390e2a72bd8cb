import type { FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/account.ts';
import type { AccountContext } from '../../accounts/context.ts';
import { mailOwners } from '../../accounts/owner-mails.ts';
import { listMemberships } from '../../accounts/team.ts';
import type { Invitation } from '../../accounts/team.ts';
import type { FieldChange } from '../../audit/masked-fields.ts';
import { recordAudit } from '../../audit/record-audit.ts';
import type { Transaction } from '../../kit/db.ts';

interface MemberAction {
  businessId: string;
  account: Account;
  action: string;
  changes: readonly FieldChange[];
}

function record(
  tx: Transaction,
  context: AccountContext,
  request: FastifyRequest,
  { businessId, account, action, changes }: MemberAction,
): void {
  recordAudit(tx, context, {
    ...{
      businessId,
      testMode: null,
      actorType: 'member',
      actorId: account.id,
      actorName: account.name,
      action,
      changes,
    },
    ...{ objectType: 'member', objectId: account.id, sessionId: request.signedIn?.session.id ?? null },
    ...{ requestId: request.id, address: request.ip },
  });
}

/** Writes in the log of a business that somebody has joined its team. */
export function recordJoin(
  tx: Transaction,
  context: AccountContext,
  request: FastifyRequest,
  { account, invitation: { businessId, role } }: { account: Account; invitation: Invitation },
): void {
  const changes = [{ field: 'role', before: null, after: role }];
  record(tx, context, request, { businessId, account, action: 'team.join', changes });
}

/** Tells the owners of each of a person's businesses that a factor of theirs is gone. Call `sealer.prepare()` before. */
export async function reportRemovedFactor(
  tx: Transaction,
  context: AccountContext,
  request: FastifyRequest,
  { account, factor }: { account: Account; factor: 'authenticator app' | 'passkey' },
): Promise<void> {
  const changes = [{ field: 'second_factor', before: factor, after: null }];
  for (const { businessId } of await listMemberships(tx, account.id)) {
    record(tx, context, request, { businessId, account, action: 'login.remove_factor', changes });
    const what = `${account.name} (${account.email}) has removed a second factor: ${factor}.`;
    await mailOwners(tx, context, businessId, { subject: 'a second factor was removed', what });
  }
}
