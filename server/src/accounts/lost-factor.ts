import { AppError } from '../api/app-error.ts';
import { addMs, dayMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { normalizedEmail, type Account } from './account.ts';
import type { AccountContext } from './context.ts';
import { hashOfToken } from './one-time-text.ts';
import { mailOwners } from './owner-mails.ts';
import {
  deletePasskeys,
  deleteRecoveryCodes,
  deleteSessions,
  deleteTokens,
  insertToken,
  listTokens,
  lockAccount,
  removeTotp,
} from './queries.ts';
import { hasSecondFactor } from './second-factor.ts';
import { listMemberships, listTeam } from './team.ts';

// Enough for a person who was impersonated to read the mail; after the longer one the operators ask them again.
const objectionMs = dayMs;
const lifetimeMs = 7 * dayMs;

/** What an operator says of a person in the team of a business: they have lost app, passkeys and recovery codes. */
export interface LostFactor {
  businessId: string;
  email: string;
  operatorId: string;
  /** Operators who have not been revoked, whose word counts. */
  operatorIds: readonly string[];
}

export interface Agreed {
  account: Account;
  /** Whether the second factor is removed now; else until when nobody can remove it. */
  removed: boolean;
  notBefore: Date;
}

/**
 * Notes that an operator agrees to remove somebody's second factor. The second one who does removes it, a day later at the earliest: the
 * person and the owners have a mail by then, and a sign-in with the factor ends it (`sessions.ts`). The password stays. Throws AppError.
 * Call `sealer.prepare()` before the transaction.
 */
export async function agreeFactorLost(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'sendMail' | 'publicUrl'>,
  lost: LostFactor,
): Promise<Agreed> {
  const account = await lockMemberByEmail(tx, lost);
  if (!(await hasSecondFactor(tx, account))) {
    throw new AppError('state_conflict', 'This login has no second factor. A new password by mail opens it.');
  }
  const now = context.clock.now();
  const stored = await listTokens(tx, account.id, 'lost_factor', now);
  const agreementOf = (operatorId: string): Buffer => hashOfToken(`lost factor ${account.id} ${operatorId}`);
  const byOperator = (operatorId: string) => stored.find(({ tokenHash }) => agreementOf(operatorId).equals(tokenHash));
  const first = lost.operatorIds
    .filter((id) => id !== lost.operatorId)
    .map(byOperator)
    .find((agreement) => agreement !== undefined);
  if (first) {
    const notBefore = addMs(first.createdAt, objectionMs);
    if (now < notBefore) {
      const message = `The person can object by mail until ${notBefore.toISOString()}. Nothing was done.`;
      throw new AppError('state_conflict', message);
    }
    await removeFactors(tx, context, account);
    return { account, removed: true, notBefore };
  }
  if (byOperator(lost.operatorId)) {
    throw new AppError('state_conflict', 'You have agreed already. Another operator has to, too.');
  }
  const agreement = { tokenHash: agreementOf(lost.operatorId), purpose: 'lost_factor', accountId: account.id } as const;
  // What has expired, or was said by somebody who has been revoked.
  tx.send(deleteTokens(account.id, ['lost_factor']));
  tx.send(insertToken({ ...agreement, createdAt: now, expiresAt: addMs(now, lifetimeMs) }));
  await report(tx, context, account, {
    subject: 'Your second factor is about to be removed',
    what: `The operator of this service was told that you have lost your second factor. In a day, two of its people may remove it.

If that is not so, sign in with it: that ends this.`,
    toOwners: `was told that ${account.name} (${account.email}) has lost their second factor. In a day, two of its people may remove it.`,
  });
  return { account, removed: false, notBefore: addMs(now, objectionMs) };
}

async function lockMemberByEmail(tx: Transaction, { businessId, email }: LostFactor): Promise<Account> {
  const member = (await listTeam(tx, businessId)).find((each) => each.email === normalizedEmail(email));
  const account = member && (await lockAccount(tx, member.accountId));
  if (!account) throw new AppError('not_found', 'Nobody in the team of this business has this address.');
  return account;
}

async function removeFactors(
  tx: Transaction,
  context: Pick<AccountContext, 'sendMail' | 'publicUrl'>,
  account: Account,
): Promise<void> {
  await removeTotp(tx, account.id);
  for (const statement of [
    deletePasskeys(account.id),
    deleteRecoveryCodes(account.id),
    deleteSessions(account.id, null),
    deleteTokens(account.id, ['lost_factor']),
  ])
    tx.send(statement);
  await report(tx, context, account, {
    subject: 'Your second factor was removed',
    what: 'The operator of this service has removed it. Sign in with your password, and set up a new one at once.',
    toOwners: `has removed the second factor of ${account.name} (${account.email}), who sets up a new one.`,
  });
}

/** Mails the person, and the owners of each of their businesses. */
async function report(
  tx: Transaction,
  context: Pick<AccountContext, 'sendMail' | 'publicUrl'>,
  { id, email, name }: Account,
  { subject, what, toOwners }: { subject: string; what: string; toOwners: string },
): Promise<void> {
  context.sendMail(tx, { to: email, subject, text: `Hello ${name},\n\n${what}\n\n${context.publicUrl()}/dashboard` });
  const pathText = 'If you do not know of it, ask them, and take them out of the team if it is not so:';
  const mail = { subject: `the second factor of ${name}`, what: `The operator of this service ${toOwners}`, pathText };
  for (const { businessId } of await listMemberships(tx, id))
    await mailOwners(tx, context, businessId, { ...mail, except: email });
}
