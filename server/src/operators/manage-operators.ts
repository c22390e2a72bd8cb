import { crc32Base62, randomBase62 } from '../kit/base62.ts';
import type { Clock } from '../kit/clock.ts';
import { AppError } from '../api/app-error.ts';
import type { Queryable, Transaction } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import { createHmac, createSecretKey } from 'node:crypto';
import type { Operator } from './operator.ts';
import { findOperatorByHmac, insertOperator, lockOperatorLogin, lockOperatorLogins } from './queries.ts';

// `op_`, 32 random base62 characters (190 bits), and their checksum, created and stored like an API key.
const credentialPattern = /^op_[0-9A-Za-z]{38}$/;
const randomLength = 32;
const checksumLength = 6;

export function createCredentialText(random: Random): string {
  const body = `op_${randomBase62(random, randomLength)}`;
  return body + crc32Base62(body);
}

export function isWellFormedCredential(text: string): boolean {
  return credentialPattern.test(text) && crc32Base62(text.slice(0, -checksumLength)) === text.slice(-checksumLength);
}

/** The only stored form of a credential. The hash covers the prefix, so that it never equals that of an API key. */
export function hmacOfCredential(pepper: Uint8Array, text: string): Buffer {
  return createHmac('sha256', createSecretKey(pepper)).update(text).digest();
}

export {
  findOperatorLogin,
  hasOperators,
  insertOperatorLogin,
  listOperatorLogins,
  listOperators,
  revokeOperator,
  updateOperatorRole,
} from './queries.ts';

export interface OperatorContext {
  clock: Clock;
  random: Random;
  newId: () => string;
  pepper: Uint8Array;
}

/** Stored with each credential, so that a second pepper can be added. */
const pepperVersion = 1n;

/** Creates an operator. The credential is returned here only; it cannot be read again. */
export async function createOperator(
  db: Queryable,
  context: OperatorContext,
  name: string,
): Promise<{ credential: string; operator: Operator }> {
  const credential = createCredentialText(context.random);
  const operator: Operator = { id: context.newId(), name, createdAt: context.clock.now(), revokedAt: null };
  await db.run(
    insertOperator({ ...operator, credentialHmac: hmacOfCredential(context.pepper, credential), pepperVersion }),
  );
  return { credential, operator };
}

/**
 * Locks all operators for a change by one of the admins, so that of admins who revoke each other at once the later one does
 * nothing. Throws AppError `state_conflict`.
 */
export async function lockOperatorsAsAdmin(tx: Transaction, operatorId: string): Promise<void> {
  const logins = await lockOperatorLogins(tx);
  if (logins.some((login) => login.operatorId === operatorId && login.role === 'admin')) return;
  throw new AppError('state_conflict', 'You are no longer an admin. Nothing was done.');
}

/**
 * For what outlasts the right to it, such as an invitation: whoever revokes the operator or changes their role waits until the
 * transaction ends, and then finds what it wrote. Throws AppError `state_conflict` where somebody has.
 */
export async function lockOperatorAs(tx: Transaction, { id, role }: { id: string; role: string }): Promise<void> {
  const login = await lockOperatorLogin(tx, id);
  if (login?.role === role) return;
  throw new AppError('state_conflict', 'You have another role by now, or none. Nothing was done.');
}

/** The operator of a credential, or why there is none. */
export type OperatorAuthentication =
  | { operator: Operator }
  | { refusal: 'missing' | 'mistyped' | 'unknown' | 'revoked' };

export async function authenticateOperator(
  db: Queryable,
  pepper: Uint8Array,
  credential: string | undefined,
): Promise<OperatorAuthentication> {
  if (credential === undefined || credential === '') return { refusal: 'missing' };
  if (!isWellFormedCredential(credential)) return { refusal: 'mistyped' };
  const operator = await findOperatorByHmac(db, hmacOfCredential(pepper, credential));
  if (!operator) return { refusal: 'unknown' };
  return operator.revokedAt === null ? { operator } : { refusal: 'revoked' };
}
