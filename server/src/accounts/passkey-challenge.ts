import { createHmac } from 'node:crypto';
import type { Queryable } from '../kit/db.ts';
import { isSameText } from '../kit/same-text.ts';
import type { AccountContext } from './context.ts';
import { hashOfToken } from './one-time-text.ts';
import { insertToken } from './queries.ts';

const randomBytes = 16;
const timeBytes = 6;
const lifetimeMs = 5 * 60_000;

type ChallengeContext = Pick<AccountContext, 'clock' | 'random' | 'pepper'>;

/**
 * Signed, with its end and whose it is, instead of stored: anybody may open the sign-in as often as they like, and fills no table by
 * that. What is stored is that it has counted.
 */
export function newChallenge(context: ChallengeContext, accountId: string | null): Uint8Array<ArrayBuffer> {
  const { clock, random, pepper } = context;
  const end = Buffer.alloc(timeBytes);
  end.writeUIntBE(clock.now().getTime() + lifetimeMs, 0, timeBytes);
  const body = Buffer.concat([random.bytes(randomBytes), end]);
  return Uint8Array.from(Buffer.concat([body, signatureOf(pepper, body, accountId)]));
}

/** `accountId` is null for a challenge that any login may answer. */
function signatureOf(pepper: Uint8Array, body: Uint8Array, accountId: string | null): Buffer {
  return createHmac('sha256', pepper)
    .update(`passkey challenge ${accountId ?? ''} `)
    .update(body)
    .digest();
}

/** Whether a challenge is ours, of this login or of any, still good, and counts for the first time. */
export async function consumeChallenge(
  db: Queryable,
  { clock, pepper }: Pick<ChallengeContext, 'clock' | 'pepper'>,
  { challenge, accountId }: { challenge: string; accountId: string },
): Promise<boolean> {
  const bytes = Buffer.from(challenge, 'base64url');
  const bodyLength = randomBytes + timeBytes;
  const [body, signature] = [bytes.subarray(0, bodyLength), bytes.subarray(bodyLength).toString('hex')];
  const isOurs = [null, accountId].some((owner) =>
    isSameText(signature, signatureOf(pepper, body, owner).toString('hex')),
  );
  if (!isOurs) return false;
  const now = clock.now();
  const expiresAt = new Date(body.readUIntBE(randomBytes, timeBytes));
  if (expiresAt <= now) return false;
  const tokenHash = hashOfToken(bytes.toString('base64url'));
  return (await db.run(insertToken({ tokenHash, purpose: 'passkey', accountId, createdAt: now, expiresAt }))) === 1;
}
