import type { FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/account.ts';
import type { AccountContext } from '../../accounts/context.ts';
import { mailOwners } from '../../accounts/owner-mails.ts';
import { homeOf } from '../../accounts/sign-up.ts';
import { listMemberships, type Invitation } from '../../accounts/team.ts';
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

interface FactorChange {
  account: Account;
  factor: 'authenticator app' | 'passkey' | 'set of recovery codes';
  isAdded: boolean;
}

/** Tells a person, and the owners of each of their businesses, that a factor is new or gone. Call `sealer.prepare()` before. */
export async function reportFactor(
  tx: Transaction,
  context: AccountContext,
  request: FastifyRequest,
  { account, factor, isAdded }: FactorChange,
): Promise<void> {
  const done = isAdded ? 'added' : 'removed';
  const { name, email, realm } = account;
  context.sendMail(tx, {
    to: email,
    subject: `A second factor was ${done}`,
    text: `Hello ${name},

a second factor of your login was ${done}: ${factor}. If it was not you, choose a new password, then look at your login:

${context.publicUrl()}${homeOf(realm)}/forgotten
${context.publicUrl()}${homeOf(realm)}/account`,
  });
  const changes = [{ field: 'second_factor', before: isAdded ? null : factor, after: isAdded ? factor : null }];
  const action = isAdded ? 'login.add_factor' : 'login.remove_factor';
  for (const { businessId } of await listMemberships(tx, account.id)) {
    record(tx, context, request, { businessId, account, action, changes });
    const what = `${name} (${email}) has ${done} a second factor: ${factor}.`;
    await mailOwners(tx, context, businessId, { subject: `a second factor was ${done}`, what, except: email });
  }
}
