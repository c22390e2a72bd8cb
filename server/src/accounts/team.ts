import { AppError, fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { normalizedEmail, type Account } from './account.ts';
import type { AccountContext } from './context.ts';
import { createToken, hashOfToken } from './one-time-text.ts';
import type { MerchantRole } from './permissions.ts';
import { mailOwners } from './owner-mails.ts';
import { findAccount, findAccountByEmail, insertAccount } from './queries.ts';
import {
  deleteInvitation,
  deleteInvitationsBy,
  deleteInvitationsOfOperator,
  deleteMembership,
  findInvitation,
  insertMembership,
  listInvitations,
  lockTeam,
  updateRole,
  upsertInvitation,
  type Invitation,
  type Membership,
} from './queries/team.ts';
import { checkEmail, checkName, newAccount } from './sign-up.ts';
import { assertStrongPassword, hashPassword } from './password.ts';
import { countAttempt, invitationsThrottle, invitedThrottle } from './throttle.ts';

export type { Invitation, Membership, OwnMembership, TeamMember } from './queries/team.ts';
export { deleteInvitation, findMembership, listInvitations, listMemberships, listTeam } from './queries/team.ts';

const invitationLifetimeMs = 7 * 24 * 3_600_000;
const teamMax = 200;

/** What an owner gives a person. */
export interface Grant {
  role: MerchantRole;
  /** Of a cashier: the counters that they work at. */
  terminalIds: string[];
}

/**
 * Counts an invitation that an owner is about to send, of the business, and of the owner to the address: not of all owners to it, so
 * that nobody uses up what others may send. Throws AppError `rate_limited`. Call it before the transaction: what is refused later
 * counts as well.
 */
export async function countInvitation(
  context: AccountContext,
  { businessId, invitedBy, email }: { businessId: string; invitedBy: Account; email: string },
): Promise<void> {
  await countAttempt(context, invitationsThrottle, `invitations ${businessId}`);
  await countAttempt(context, invitedThrottle, `invited ${invitedBy.id} ${normalizedEmail(email)}`);
}

/** Invites an address to a business; its mail holds the only copy of the link. Throws AppError. */
export async function inviteMember(
  tx: Transaction,
  context: AccountContext,
  { business, invitedBy, email, grant }: { business: Business; invitedBy: Account; email: string; grant: Grant },
): Promise<Invitation> {
  checkEmail(email);
  const team = await lockTeam(tx, business.id);
  const invited = normalizedEmail(email);
  const account = await findAccountByEmail(tx, 'merchant', invited);
  if (team.some(({ accountId }) => accountId === account?.id)) {
    throw fieldError('invalid_request', 'email', 'This person is in the team already. Change their role instead.');
  }
  const createdAt = context.clock.now();
  const others = (await listInvitations(tx, business.id)).filter((each) => each.email !== invited);
  if (team.length + others.filter(({ expiresAt }) => expiresAt > createdAt).length >= teamMax) {
    throw new AppError('state_conflict', `A team has at most ${teamMax} people, counting those who are invited.`);
  }
  const token = createToken(context.random);
  const invitation: Invitation = {
    ...grant,
    businessId: business.id,
    id: context.newId(),
    email: invited,
    invitedBy: invitedBy.id,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + invitationLifetimeMs),
  };
  tx.send(upsertInvitation({ ...invitation, tokenHash: hashOfToken(token) }));
  context.sendMail(tx, {
    to: invitation.email,
    subject: `${invitedBy.name} invites you to ${business.name}`,
    text: `Hello,

${invitedBy.name} invites you to work with ${business.name} as ${grant.role}. Open this link within seven days to accept:

${context.publicUrl()}/dashboard/invitation/${token}

If you do not know ${business.name}, ignore this mail.`,
  });
  return invitation;
}

interface Business {
  id: string;
  name: string;
}

/** The invitation of a link; undefined for one that was used, replaced, withdrawn, or is too old. */
export function findInvitationOf(
  { db, clock }: Pick<AccountContext, 'db' | 'clock'>,
  token: string,
): Promise<(Invitation & { businessName: string }) | undefined> {
  return findInvitation(db, hashOfToken(token), clock.now());
}

/** Whether an invited address has a login, with which it then accepts. */
export function findInvited({ db }: Pick<AccountContext, 'db'>, email: string): Promise<Account | undefined> {
  return findAccountByEmail(db, 'merchant', email);
}

/** What is written in the transaction of an acceptance. */
export type AlsoWrite = (tx: Transaction, joined: { account: Account; invitation: Invitation }) => void;

/** Accepts with an existing login, whose address is the invited one. Throws AppError. */
export async function acceptInvitation(
  context: AccountContext,
  account: Account,
  token: string,
  alsoWrite?: AlsoWrite,
): Promise<Invitation> {
  await context.sealer.prepare();
  return context.db.withTransaction(async (tx) => {
    const invitation = await consumeInvitation(tx, context, token);
    if (invitation.email !== account.email) {
      throw new AppError('state_conflict', `This invitation is for ${invitation.email}. Sign in with that address.`);
    }
    await join(tx, context, { account, invitation });
    alsoWrite?.(tx, { account, invitation });
    return invitation;
  });
}

/** Accepts with a new login; the link came by mail, so the address is verified. Throws AppError that names each field. */
export async function acceptInvitationAnew(
  context: AccountContext,
  { token, name, password }: { token: string; name: string; password: string },
  alsoWrite?: AlsoWrite,
): Promise<{ account: Account; invitation: Invitation }> {
  const invited = await findInvitationOf(context, token);
  if (!invited) throw endedInvitation();
  checkName(name, 'name');
  await assertStrongPassword(password, { path: 'password', known: [name, invited.email, invited.businessName] });
  const passwordHash = await hashPassword(context.random, password);
  await context.sealer.prepare();
  return context.db.withTransaction(async (tx) => {
    const invitation = await consumeInvitation(tx, context, token);
    const account = newAccount(context, {
      ...{ realm: 'merchant', email: invitation.email, name: name.trim() },
      ...{ passwordHash, isVerified: true },
    });
    if ((await insertAccount(tx, account)) === 0) {
      throw new AppError('state_conflict', 'This address has a login already. Sign in, then open the link again.');
    }
    await join(tx, context, { account, invitation });
    alsoWrite?.(tx, { account, invitation });
    return { account, invitation };
  });
}

async function consumeInvitation(tx: Transaction, { clock }: AccountContext, token: string): Promise<Invitation> {
  const invitation = await findInvitation(tx, hashOfToken(token), clock.now());
  if (!invitation) throw endedInvitation();
  const { businessId, id } = invitation;
  // So that whoever invites at this moment counts this person, as invited or as a member.
  await lockTeam(tx, businessId);
  if ((await deleteInvitation(tx, businessId, id)) === 0) throw endedInvitation();
  return invitation;
}

function endedInvitation(): AppError {
  return new AppError('not_found', 'This invitation was used, withdrawn, or is too old. Ask for a new one.');
}

async function join(
  tx: Transaction,
  context: AccountContext,
  { account, invitation }: { account: Account; invitation: Invitation },
): Promise<void> {
  const { businessId, role, terminalIds } = invitation;
  const now = context.clock.now();
  const membership = { businessId, accountId: account.id, role, terminalIds, roleChangedAt: now, createdAt: now };
  await insertMembership(tx, membership);
  if (role === 'owner') await reportOwner(tx, context, businessId, account);
}

function reportOwner(tx: Transaction, context: AccountContext, businessId: string, account: Account): Promise<void> {
  const what = `${account.name} (${account.email}) is an owner now, and may do everything.`;
  return mailOwners(tx, context, businessId, { subject: 'there is a new owner', what });
}

/**
 * Locks a team for a change by one of its owners, so that of owners who remove each other at once the later one does nothing.
 * Throws AppError `state_conflict`.
 */
export async function lockTeamAsOwner(tx: Transaction, businessId: string, accountId: string): Promise<void> {
  const team = await lockTeam(tx, businessId);
  if (team.some((each) => each.accountId === accountId && each.role === 'owner')) return;
  throw new AppError('state_conflict', 'You are no longer an owner of this business. Nothing was done.');
}

/**
 * Gives a member another role, and other counters. The open invitations of who is no owner any more end, so that they lead nobody
 * back. Throws AppError `state_conflict` where no owner would be left. Call
 * `sealer.prepare()` before the transaction.
 */
export async function changeRole(
  tx: Transaction,
  context: AccountContext,
  { businessId, accountId, grant }: { businessId: string; accountId: string; grant: Grant },
): Promise<Membership> {
  const { member, others } = await lockMember(tx, businessId, accountId);
  if (grant.role !== 'owner') {
    assertOwnerLeft(others);
    tx.send(deleteInvitationsBy(businessId, accountId));
  }
  await updateRole(tx, { ...member, ...grant }, context.clock.now());
  const account = grant.role === 'owner' && member.role !== 'owner' ? await findAccount(tx, accountId) : undefined;
  if (account) await reportOwner(tx, context, businessId, account);
  return member;
}

/**
 * Takes a person out of the team: their next request is refused, and their open invitations end. Throws AppError `state_conflict` where
 * no owner would be left.
 */
export async function removeMember(
  tx: Transaction,
  { businessId, accountId }: { businessId: string; accountId: string },
): Promise<Membership> {
  const { member, others } = await lockMember(tx, businessId, accountId);
  assertOwnerLeft(others);
  await deleteMembership(tx, businessId, accountId);
  tx.send(deleteInvitationsBy(businessId, accountId));
  return member;
}

/** Ends the open invitations to owners of businesses that an operator has sent, so that none outlives their right to send it. */
export function endInvitationsOfOperator(tx: Transaction, accountId: string): void {
  tx.send(deleteInvitationsOfOperator(accountId));
}

async function lockMember(
  tx: Transaction,
  businessId: string,
  accountId: string,
): Promise<{ member: Membership; others: Membership[] }> {
  const team = await lockTeam(tx, businessId);
  const member = team.find((each) => each.accountId === accountId);
  if (!member) throw new AppError('not_found', 'This person is no longer in the team.');
  return { member, others: team.filter((each) => each !== member) };
}

function assertOwnerLeft(others: readonly Membership[]): void {
  if (others.some(({ role }) => role === 'owner')) return;
  throw new AppError('state_conflict', 'A business needs an owner. Make somebody else one first.');
}
