import { fieldError } from '../api/app-error.ts';
import type { Transaction } from '../kit/db.ts';
import { normalizedEmail, type Account, type Realm } from './account.ts';
import type { AccountContext } from './context.ts';
import { createToken, hashOfToken } from './one-time-text.ts';
import { assertStrongPassword, hashPassword } from './password.ts';
import {
  consumeToken,
  deleteSessions,
  deleteTokens,
  findAccount,
  findAccountByEmail,
  findTokenAccount,
  insertAccount,
  insertToken,
  markEmailVerified,
  updatePassword,
  type TokenPurpose,
} from './queries.ts';
import { recordLogin } from './sign-in-audit.ts';
import type { Client } from './sessions.ts';
import { mayMail } from './throttle.ts';
import { insertMembership } from './queries/team.ts';

const hourMs = 3_600_000;
const verifyLifetimeMs = 24 * hourMs;
const resetLifetimeMs = hourMs;
// An invited person may be away for some days.
const setLifetimeMs = 7 * 24 * hourMs;
const passwordPurposes = ['reset_password', 'set_password'] as const;
const nameLengthMax = 100;
const emailLengthMax = 254;

export interface SignUp {
  name: string;
  email: string;
  password: string;
  businessName: string;
}

/** What a new login needs. Throws AppError that names each field. */
export async function checkSignUp({ name, email, password, businessName }: SignUp): Promise<void> {
  checkName(name, 'name');
  checkName(businessName, 'business_name');
  checkEmail(email);
  await assertStrongPassword(password, { path: 'password', known: [name, email, businessName] });
}

/** Throws AppError `invalid_request`. */
export function checkName(name: string, path: string): void {
  if (name.trim() === '') throw fieldError('invalid_request', path, 'Type a name.');
  if (name.length > nameLengthMax || /\p{Cc}/u.test(name)) {
    throw fieldError('invalid_request', path, `A name has at most ${nameLengthMax} characters, on one line.`);
  }
}

/** Throws AppError `invalid_request`. */
export function checkEmail(email: string): void {
  // The stored form, to which the mail goes: a wide comma, as some keyboards write it, is a comma there.
  const stored = normalizedEmail(email);
  if (stored.length <= emailLengthMax && /^[^\s@<>,;:"\p{C}]+@[^\s@<>,;:"\p{C}]+\.[^\s@<>,;:"\p{C}]+$/u.test(stored))
    return;
  throw fieldError('invalid_request', 'email', 'Type an e-mail address, such as awa@example.gm.');
}

/**
 * Creates a login with its own business, by `createBusiness`, and mails the link that verifies the address. An address that has a
 * login already is told so by mail; the caller's answer is the same, so it does not tell who has one.
 */
export async function signUp(
  context: AccountContext,
  request: SignUp,
  createBusiness: (tx: Transaction, business: { name: string }) => Promise<{ businessId: string }>,
): Promise<void> {
  await checkSignUp(request);
  const email = normalizedEmail(request.email);
  const passwordHash = await hashPassword(context.random, request.password);
  await context.sealer.prepare();
  const existing = await findAccountByEmail(context.db, 'merchant', email);
  if (existing) return reportExisting(context, existing);
  await context.db.withTransaction(async (tx) => {
    const now = context.clock.now();
    const account = newAccount(context, { realm: 'merchant', email, name: request.name.trim(), passwordHash });
    if ((await insertAccount(tx, account)) === 0) return;
    const { businessId } = await createBusiness(tx, { name: request.businessName.trim() });
    await insertMembership(tx, {
      ...{ businessId, accountId: account.id, role: 'owner', terminalIds: [] },
      ...{ roleChangedAt: now, createdAt: now },
    });
    mailVerification(tx, context, account);
  });
}

/** A login that has not been stored. */
export function newAccount(
  { clock, newId }: Pick<AccountContext, 'clock' | 'newId'>,
  login: Pick<Account, 'realm' | 'email' | 'name' | 'passwordHash'> & { isVerified?: boolean },
): Account {
  const createdAt = clock.now();
  const { isVerified = false, ...rest } = login;
  return {
    ...rest,
    id: newId(),
    emailVerifiedAt: isVerified ? createdAt : null,
    totpSecret: null,
    totpConfirmedAt: null,
    createdAt,
  };
}

/** Stores a token for a link; earlier ones of the same purpose end. */
export function createLinkToken(
  tx: Transaction,
  { clock, random }: Pick<AccountContext, 'clock' | 'random'>,
  { accountId, purpose }: { accountId: string; purpose: TokenPurpose },
): string {
  const lifetimes: Readonly<Record<string, number>> = {
    verify_email: verifyLifetimeMs,
    reset_password: resetLifetimeMs,
    set_password: setLifetimeMs,
  };
  const token = createToken(random);
  const createdAt = clock.now();
  const expiresAt = new Date(createdAt.getTime() + (lifetimes[purpose] ?? resetLifetimeMs));
  tx.send(deleteTokens(accountId, [purpose]));
  tx.send(insertToken({ tokenHash: hashOfToken(token), purpose, accountId, createdAt, expiresAt }));
  return token;
}

/** Mails the link that verifies an address; a day old links end. */
export function mailVerification(tx: Transaction, context: AccountContext, account: Account): void {
  const token = createLinkToken(tx, context, { accountId: account.id, purpose: 'verify_email' });
  context.sendMail(tx, {
    to: account.email,
    subject: 'Confirm your e-mail address',
    text: `Hello ${account.name},

open this link within a day to confirm your address:

${context.publicUrl()}/dashboard/verify/${token}

If you did not sign up, ignore this mail.`,
  });
}

async function reportExisting(context: AccountContext, account: Account): Promise<void> {
  if (!(await mayMail(context, account.realm, account.email))) return;
  const mail = {
    to: account.email,
    subject: 'You have a login already',
    text: `Hello ${account.name},

somebody, probably you, signed up with this address, which has a login already. Sign in, or choose a new password:

${context.publicUrl()}/dashboard/sign-in
${context.publicUrl()}/dashboard/forgotten

If it was not you, there is nothing to do.`,
  };
  await context.db.withTransaction(async (tx) => context.sendMail(tx, mail));
}

/** Whose address a link confirms; undefined for one that was used or is too old. It stays valid: programs that read mails open it. */
export async function findVerification({ db, clock }: AccountContext, token: string): Promise<Account | undefined> {
  const link = { tokenHash: hashOfToken(token), purposes: ['verify_email'], now: clock.now() } as const;
  const id = await findTokenAccount(db, link);
  return id === undefined ? undefined : findAccount(db, id);
}

/** Undefined for a link that was used or is too old. */
export async function verifyEmail(context: AccountContext, token: string): Promise<Account | undefined> {
  const now = context.clock.now();
  return context.db.withTransaction(async (tx) => {
    const found = await consumeToken(tx, { tokenHash: hashOfToken(token), purposes: ['verify_email'], now });
    if (!found?.accountId) return undefined;
    tx.send(markEmailVerified(found.accountId, now));
    return findAccount(tx, found.accountId);
  });
}

/** Mails a link to choose a new password, if the address has a login; the caller's answer is the same. */
export async function requestPasswordReset(context: AccountContext, realm: Realm, email: string): Promise<void> {
  checkEmail(email);
  const account = await findAccountByEmail(context.db, realm, normalizedEmail(email));
  if (!account || !(await mayMail(context, realm, account.email))) return;
  await context.sealer.prepare();
  await context.db.withTransaction(async (tx) => {
    const token = createLinkToken(tx, context, { accountId: account.id, purpose: 'reset_password' });
    context.sendMail(tx, {
      to: account.email,
      subject: 'Choose a new password',
      text: `Hello ${account.name},

open this link within an hour to choose a new password:

${context.publicUrl()}${homeOf(realm)}/reset/${token}

If you did not ask for it, ignore this mail: your password stays as it is.`,
    });
  });
}

/** The path of a realm's pages. */
export function homeOf(realm: Realm): string {
  return realm === 'merchant' ? '/dashboard' : '/operator';
}

/** Whose link it is; undefined for one that was used or is too old. It stays valid. */
export async function findPasswordLink(context: AccountContext, token: string): Promise<Account | undefined> {
  const tokenHash = hashOfToken(token);
  const id = await findTokenAccount(context.db, { tokenHash, purposes: passwordPurposes, now: context.clock.now() });
  return id === undefined ? undefined : findAccount(context.db, id);
}

/**
 * Sets a password by a link, which is used up, and ends every session. It gets past no second factor: signing in asks for it
 * again. Undefined for a link that was used or is too old; throws AppError that names `password`.
 */
export async function resetPassword(
  context: AccountContext,
  { token, password, client }: { token: string; password: string; client: Client },
): Promise<Account | undefined> {
  const account = await findPasswordLink(context, token);
  if (!account) return undefined;
  await assertStrongPassword(password, { path: 'password', known: [account.name, account.email] });
  const passwordHash = await hashPassword(context.random, password);
  const now = context.clock.now();
  await context.sealer.prepare();
  return context.db.withTransaction(async (tx) => {
    const used = await consumeToken(tx, { tokenHash: hashOfToken(token), purposes: passwordPurposes, now });
    if (used?.accountId !== account.id) return undefined;
    tx.send(updatePassword(account.id, passwordHash));
    // The link came by mail.
    tx.send(markEmailVerified(account.id, now));
    tx.send(deleteTokens(account.id, passwordPurposes));
    tx.send(deleteSessions(account.id, null));
    mailNewPassword(tx, context, account);
    await recordLogin(tx, context, {
      action: 'login.change_password',
      result: 'done',
      account,
      client,
      sessionId: null,
    });
    return account;
  });
}

function mailNewPassword(tx: Transaction, context: AccountContext, account: Account): void {
  context.sendMail(tx, {
    to: account.email,
    subject: 'Your password was changed',
    text: `Hello ${account.name},

a new password was chosen for your login, and every browser was signed out.

If it was not you, somebody reads your mails: secure your mailbox, then choose another password:

${context.publicUrl()}${homeOf(account.realm)}/forgotten`,
  });
}
