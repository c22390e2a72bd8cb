import type { Account, Session } from './account.ts';
import type { AccountContext } from './context.ts';
import { createToken, hashOfToken } from './one-time-text.ts';
import {
  deleteTokens,
  findAccount,
  findSession,
  insertSession,
  listSessions,
  rotateSession,
  touchSession,
} from './queries.ts';
import type { Queryable, Transaction } from '../kit/db.ts';

export { deleteSession, deleteSessions } from './queries.ts';

const minuteMs = 60_000;
/** A browser that nobody used for this long is signed out. */
const idleMaxMs = 30 * minuteMs;
/** However busy it was. */
const lifetimeMs = 12 * 60 * minuteMs;
// Between the password and the second factor.
const incompleteLifetimeMs = 10 * minuteMs;
/** How long a second factor counts for actions that do not ask each time. */
const secondFactorMs = 5 * minuteMs;
// Often enough for the idle limit, and at most one write a minute.
const touchEveryMs = minuteMs;
const deviceLengthMax = 200;

/** Where a request to sign in came from. */
export interface Client {
  /** The User-Agent, as it was sent. */
  device: string;
  address: string;
  requestId: string;
}

export interface SignedIn {
  account: Account;
  session: Session;
}

/**
 * Starts a session, and returns the token for its cookie. Without a second factor yet it only leads to that; whoever has it has not lost
 * it, whatever operators were told (`lost-factor.ts`).
 */
export function startSession(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'random' | 'newId'>,
  accountId: string,
  { client, isComplete, withFactor }: { client: Client; isComplete: boolean; withFactor: boolean },
): { token: string; session: Session } {
  const token = createToken(context.random);
  const now = context.clock.now();
  const session: Session = {
    id: context.newId(),
    accountId,
    device: client.device.slice(0, deviceLengthMax),
    address: client.address,
    isComplete,
    secondFactorAt: withFactor ? now : null,
    createdAt: now,
    lastSeenAt: now,
    expiresAt: new Date(now.getTime() + (isComplete ? lifetimeMs : incompleteLifetimeMs)),
  };
  tx.send(insertSession({ ...session, tokenHash: hashOfToken(token) }));
  if (withFactor) tx.send(deleteTokens(accountId, ['lost_factor']));
  return { token, session };
}

/**
 * Who is signed in with this cookie; undefined for one that has ended or never was. Notes when the session was last seen, except
 * for an `address` of null: a page that only looks whether it may go on does not keep a browser signed in.
 */
export async function findSignedIn(
  { db, clock }: Pick<AccountContext, 'db' | 'clock'>,
  token: string,
  address: string | null,
): Promise<SignedIn | undefined> {
  const session = await findSession(db, hashOfToken(token), sessionTimes(clock.now()));
  const account = session && (await findAccount(db, session.accountId));
  if (!account) return undefined;
  const now = clock.now();
  if (address !== null && now.getTime() - session.lastSeenAt.getTime() >= touchEveryMs) {
    await db.run(touchSession({ id: session.id, address, at: now }));
  }
  return { account, session };
}

export function listOwnSessions(
  { db, clock }: { db: Queryable; clock: AccountContext['clock'] },
  accountId: string,
): Promise<Session[]> {
  return listSessions(db, accountId, sessionTimes(clock.now()));
}

function sessionTimes(now: Date): { now: Date; seenAfter: Date } {
  return { now, seenAfter: new Date(now.getTime() - idleMaxMs) };
}

/** After a second factor, which is not lost: the session gets a new token, so that an earlier one is worth nothing. Null if it has ended. */
export async function confirmSession(
  tx: Transaction,
  { clock, random }: Pick<AccountContext, 'clock' | 'random'>,
  session: Session,
): Promise<string | null> {
  const token = createToken(random);
  const now = clock.now();
  const expiresAt = session.isComplete ? session.expiresAt : new Date(now.getTime() + lifetimeMs);
  const changed = await rotateSession(tx, {
    id: session.id,
    tokenHash: hashOfToken(token),
    secondFactorAt: now,
    expiresAt,
  });
  tx.send(deleteTokens(session.accountId, ['lost_factor']));
  return changed === 1 ? token : null;
}

/** Whether the session's second factor is recent enough for actions that do not ask each time. */
export function hasRecentFactor(session: Session, now: Date): boolean {
  const at = session.secondFactorAt?.getTime();
  return at !== undefined && now.getTime() - at < secondFactorMs && at <= now.getTime();
}
