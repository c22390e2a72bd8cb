import { createHmac } from 'node:crypto';
import { AppError } from '../api/app-error.ts';
import type { Realm } from './account.ts';
import type { AccountContext } from './context.ts';
import { blockAttempts, countFailure, deleteAttempts, findBlockedUntil } from './queries/attempts.ts';

interface Throttle {
  /** Tries without a wait. */
  tries: number;
  /** After so long without a failure the count begins anew. */
  windowMs: number;
  /** What there were too many of. Default: wrong tries. */
  what?: string;
}

/** Ten wrong passwords in a quarter of an hour; after that, each further one doubles the wait. */
export const passwordThrottle: Throttle = { tries: 10, windowMs: 15 * 60_000 };
/** Of a million codes three are right: five tries and a wait leave no hope. */
export const codeThrottle: Throttle = { tries: 5, windowMs: 15 * 60_000 };

/** Mails that anybody can cause without being signed in: enough to find the right one, too few to fill a mailbox. */
const mailThrottle: Throttle = { tries: 5, windowMs: 60 * 60_000 };

/**
 * What an owner writes into a mail, the names of the business and of themselves, goes to any address: a business that invites more
 * people than work for it, or one person again and again, sends mails that nobody asked for.
 */
export const invitationsThrottle: Throttle = { tries: 100, windowMs: 24 * 60 * 60_000, what: 'invitations' };
export const invitedThrottle: Throttle = { tries: 5, windowMs: 60 * 60_000, what: 'invitations to this address' };

const firstWaitMs = 30_000;
// The owner waits no longer either, whoever caused it: there is no permanent lock.
const waitMaxMs = 15 * 60_000;

type ThrottleContext = Pick<AccountContext, 'db' | 'clock' | 'pepper'>;

/**
 * Counts what fails under a key, such as an address with a device. The count is taken before the try and in a transaction of its
 * own, so that tries at the same time count too; a success deletes it.
 *
 * Throws AppError `rate_limited` once the tries are used up, without saying whether there is such an account.
 */
export async function countAttempt(context: ThrottleContext, throttle: Throttle, key: string): Promise<void> {
  const keyHash = hashOfKey(context.pepper, key);
  const now = context.clock.now();
  const refusedUntil = await context.db.withTransaction(async (tx) => {
    // The row is locked from here on: of two tries at once one sees the other.
    const resetBefore = new Date(now.getTime() - throttle.windowMs);
    const failures = await countFailure(tx, { keyHash, now, resetBefore });
    if (failures === undefined) return (await findBlockedUntil(tx, keyHash)) ?? now;
    const beyond = Number(failures) - throttle.tries;
    if (beyond >= 0) {
      const waitMs = Math.min(firstWaitMs * 2 ** beyond, waitMaxMs);
      tx.send(blockAttempts({ keyHash, blockedUntil: new Date(now.getTime() + waitMs) }));
    }
    return null;
  });
  if (refusedUntil !== null) throw tooManyAttempts(throttle, refusedUntil, now);
}

/** Counts a mail to an address. Returns false once there were too many: the caller's answer is the same, and no mail goes. */
export async function mayMail(context: ThrottleContext, realm: Realm, email: string): Promise<boolean> {
  try {
    await countAttempt(context, mailThrottle, `mail ${realm} ${email}`);
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'rate_limited') return false;
    throw error;
  }
}

export async function forgetAttempts(
  { db, pepper }: Pick<ThrottleContext, 'db' | 'pepper'>,
  key: string,
): Promise<void> {
  await db.run(deleteAttempts(hashOfKey(pepper, key)));
}

function tooManyAttempts({ what = 'wrong tries' }: Throttle, until: Date, now: Date): AppError {
  const retryAfterSeconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1_000));
  const minutes = Math.ceil(retryAfterSeconds / 60);
  const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`;
  return new AppError('rate_limited', `Too many ${what}. Wait ${wait}, then try again.`, { retryAfterSeconds });
}

/** Keyed, so that the table does not tell which addresses were tried. */
function hashOfKey(pepper: Uint8Array, key: string): Buffer {
  return createHmac('sha256', pepper).update(`attempts ${key}`).digest();
}
