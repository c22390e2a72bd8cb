import { AppError } from '../api/app-error.ts';
import { clientNetwork } from '../kit/client-address.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { normalizedEmail } from './account.ts';
import type { Account, Realm, Session } from './account.ts';
import type { AccountContext } from './context.ts';
import { verifyPasskey } from './passkeys.ts';
import { isPassword } from './password.ts';
import { findAccount, findAccountByEmail } from './queries.ts';
import { checkSecondFactor, hasSecondFactor } from './second-factor.ts';
import type { FactorInput } from './second-factor.ts';
import { confirmSession, startSession } from './sessions.ts';
import type { Client, SignedIn } from './sessions.ts';
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
    for (const result of [this.#addresses.take(clientNetwork(address)), this.#all.take('all')]) {
      if ('retryAfterSeconds' in result) {
        const { retryAfterSeconds } = result;
        throw new AppError('rate_limited', 'Too many tries. Wait a moment, then try again.', { retryAfterSeconds });
      }
    }
  }
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
  const attempts = `password ${realm} ${email} ${credentials.knownDevice ?? ''}`;
  await countAttempt(context, passwordThrottle, attempts);
  const account = await findAccountByEmail(context.db, realm, email);
  const isRight = await isPassword(credentials.password, account?.passwordHash ?? null);
  if (!account || !isRight) throw new AppError('invalid_request', 'This address and password do not match.');
  await forgetAttempts(context, attempts);
  if (account.emailVerifiedAt === null) await refuseUnverified(context, account);
  const isComplete = !(await hasSecondFactor(context.db, account));
  const { client } = credentials;
  const started = await context.db.withTransaction(async (tx) =>
    startSession(tx, context, account.id, { client, isComplete, withFactor: false }),
  );
  return { account, ...started };
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
  if (account?.realm !== realm) throw new AppError('invalid_request', 'This passkey is not known here.');
  const started = await context.db.withTransaction(async (tx) =>
    startSession(tx, context, account.id, { client, isComplete: true, withFactor: true }),
  );
  return { account, ...started };
}

/** Checks a second factor and gives the session a new token, which is returned. Throws AppError. */
export async function giveSecondFactor(
  context: AccountContext,
  { account, session }: SignedIn,
  input: FactorInput,
): Promise<string> {
  await checkSecondFactor(context, account, input);
  const token = await context.db.withTransaction((tx) => confirmSession(tx, context, session));
  if (token === null) throw new AppError('invalid_request', 'This session has ended. Sign in again.');
  return token;
}
