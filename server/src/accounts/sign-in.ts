import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import type { Transaction } from '../kit/db.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { normalizedEmail, type Account, type Realm, type Session } from './account.ts';
import type { AccountContext } from './context.ts';
import { verifyPasskey } from './passkeys.ts';
import { isPassword } from './password.ts';
import { findAccount, findAccountByEmail, findPasskey, lockAccount } from './queries.ts';
import { checkSecondFactor, hasSecondFactor, type FactorInput } from './second-factor.ts';
import { recordLogin, recordUnknownLogin } from './sign-in-audit.ts';
import { confirmSession, startSession, type Client, type SignedIn } from './sessions.ts';
import { mailVerification } from './sign-up.ts';
import { countAttempt, forgetAttempts, mayMail, passwordThrottle } from './throttle.ts';

// A shop's staff behind one address, and a mobile network's thousands: a burst of 60, then one try in two seconds.
const addressLimit = { rate: 0.5, burst: 60 };
// All of this process: 20 hashes a second are half of a core.
const globalLimit = { rate: 20, burst: 200 };

/** Limits what anybody may try without being signed in, per address and for the process; shared by all such forms. */
export class VisitorLimit {
  readonly #addresses: LocalAllowances;
  readonly #all: LocalAllowances;

  constructor({ clock }: Pick<AccountContext, 'clock'>) {
    this.#addresses = new LocalAllowances(clock, addressLimit);
    this.#all = new LocalAllowances(clock, globalLimit);
  }

  /** Throws AppError `rate_limited`. */
  take(address: string): void {
    assertAllowed(this.#addresses.take(clientNetwork(address)));
    // Only then: an address beyond its own limit would use up the tries of everybody else.
    assertAllowed(this.#all.take('all'));
  }
}

function assertAllowed(result: ReturnType<LocalAllowances['take']>): void {
  if (!('retryAfterSeconds' in result)) return;
  const { retryAfterSeconds } = result;
  throw new AppError('rate_limited', 'Too many tries. Wait a moment, then try again.', { retryAfterSeconds });
}

export interface Credentials {
  email: string;
  password: string;
  client: Client;
  /** The id of a browser that signed this address in before, from its cookie; others cannot use up its tries. */
  knownDevice: string | null;
}

/** A session that has begun; `isComplete` is false where the second factor is to follow. */
export interface StartedSession {
  account: Account;
  session: Session;
  token: string;
}

/**
 * Signs in with a password. A wrong one, an unknown address, and an address of the other realm cannot be told apart, by text or
 * time. Throws AppError `invalid_request`, `state_conflict` before the address is confirmed, and `rate_limited` after ten tries in a quarter of an hour.
 */
export async function signIn(context: AccountContext, realm: Realm, credentials: Credentials): Promise<StartedSession> {
  const email = normalizedEmail(credentials.email);
  const attempts = passwordAttempts(realm, email, credentials.knownDevice);
  await countAttempt(context, passwordThrottle, attempts);
  const account = await findAccountByEmail(context.db, realm, email);
  const isRight = await isPassword(credentials.password, account?.passwordHash ?? null);
  const { client } = credentials;
  const refused = { realm, email, account, client };
  if (!account || !isRight) return refusePassword(context, refused);
  await forgetAttempts(context, attempts);
  if (account.emailVerifiedAt === null) await refuseUnverified(context, account);
  const isComplete = !(await hasSecondFactor(context.db, account));
  const started = await begin(context, account, {
    session: { client, isComplete, withFactor: false },
    by: 'password',
    // A new one that was saved meanwhile has ended all sessions, and this would be one more.
    isStill: async (_tx, { passwordHash }) => passwordHash === account.passwordHash,
  });
  return started ?? refusePassword(context, refused);
}

function passwordAttempts(realm: Realm, email: string, knownDevice: string | null): string {
  return `password ${realm} ${email} ${knownDevice ?? ''}`;
}

/** After a new password, whose link came by mail: wrong tries of the old one let nobody wait any more. */
export async function forgetWrongPasswords(
  context: AccountContext,
  { realm, email }: Account,
  knownDevice: string | null,
): Promise<void> {
  for (const device of new Set([null, knownDevice])) {
    await forgetAttempts(context, passwordAttempts(realm, email, device));
  }
}

/** Throws AppError. */
async function refusePassword(
  context: AccountContext,
  { realm, email, account, client }: { realm: Realm; email: string; account: Account | undefined; client: Client },
): Promise<never> {
  // Also for an unknown address, so that both take as long.
  await context.db.withTransaction(async (tx) => {
    if (account) await recordLogin(tx, context, { ...refusedSignIn, account, client, sent: { by: 'password' } });
    else recordUnknownLogin(tx, context, { realm, client, sent: { by: 'password', email } });
  });
  throw new AppError('invalid_request', 'This address and password do not match.');
}

/**
 * Whoever signed up with somebody else's address gets no further, so that no factor of theirs waits for its owner. Throws AppError.
 */
async function refuseUnverified(context: AccountContext, account: Account): Promise<never> {
  if (await mayMail(context, account.realm, account.email)) {
    await context.sealer.prepare();
    await context.db.withTransaction(async (tx) => mailVerification(tx, context, account));
  }
  throw new AppError('state_conflict', 'Confirm your e-mail address first: we have sent you the link again.');
}

/** Signs in with a passkey, which is both factors: the device, and its owner's finger, face or PIN. Throws AppError. */
export async function signInWithPasskey(
  context: AccountContext,
  realm: Realm,
  { response, client }: { response: string; client: Client },
): Promise<StartedSession> {
  const passkey = await verifyPasskey(context, response);
  const account = passkey && (await findAccount(context.db, passkey.accountId));
  const started =
    passkey && account?.realm === realm
      ? await begin(context, account, {
          session: { client, isComplete: true, withFactor: true },
          by: 'passkey',
          // Whoever removed it meanwhile has ended the other sessions.
          isStill: async (tx) => (await findPasskey(tx, passkey.credentialId)) !== undefined,
        })
      : null;
  if (started) return started;
  const unknown = { realm, client, sent: { by: 'passkey' } };
  await context.db.withTransaction(async (tx) => recordUnknownLogin(tx, context, unknown));
  throw new AppError('invalid_request', 'This passkey is not known here.');
}

const refusedSignIn = { action: 'login.sign_in', result: 'refused', sessionId: null } as const;

interface Beginning {
  session: { client: Client; isComplete: boolean; withFactor: boolean };
  by: 'password' | 'passkey';
  /** Whether what was checked still counts: the login is locked now, as by whoever changes its password or factors. */
  isStill: (tx: Transaction, locked: Account) => Promise<boolean>;
}

/** Null where what was checked no longer counts. */
function begin(
  context: AccountContext,
  account: Account,
  { by, session, isStill }: Beginning,
): Promise<StartedSession | null> {
  return context.db.withTransaction(async (tx) => {
    const locked = await lockAccount(tx, account.id);
    if (!locked || !(await isStill(tx, locked))) return null;
    const started = startSession(tx, context, account.id, session);
    const sent = { by, ...(!session.isComplete && { second_factor: 'to follow' }) };
    const { client } = session;
    const sessionId = started.session.id;
    await recordLogin(tx, context, { action: 'login.sign_in', result: 'done', account, client, sessionId, sent });
    return { account, ...started };
  });
}

/**
 * Checks a second factor and gives the session a new token, which is returned. One that comes with an action is in the log by that
 * action; a refused one always is. Throws AppError.
 */
export async function giveSecondFactor(
  context: AccountContext,
  { account, session }: SignedIn,
  { client, isWithAction = false, ...input }: FactorInput & { client: Client; isWithAction?: boolean },
): Promise<string> {
  const act = { action: 'login.second_factor', account, client, sessionId: session.id } as const;
  try {
    await checkSecondFactor(context, account, input);
  } catch (error) {
    // Beyond the tries nothing was compared, and nothing is written.
    if (error instanceof AppError && error.code === 'invalid_request') {
      await context.db.withTransaction((tx) => recordLogin(tx, context, { ...act, result: 'refused' }));
    }
    throw error;
  }
  const token = await context.db.withTransaction(async (tx) => {
    if (!isWithAction) await recordLogin(tx, context, { ...act, result: 'done' });
    return confirmSession(tx, context, session);
  });
  if (token === null) throw new AppError('invalid_request', 'This session has ended. Sign in again.');
  return token;
}
