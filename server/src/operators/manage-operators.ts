import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import type { Random } from '../kit/random.ts';
import { createCredentialText, hmacOfCredential, isWellFormedCredential } from './credential.ts';
import type { Operator } from './operator.ts';
import { findOperatorByHmac, insertOperator } from './queries.ts';

export { hasOperators, listOperators, revokeOperator } from './queries.ts';

export interface OperatorContext {
  clock: Clock;
  random: Random;
  newId: () => string;
  pepper: Uint8Array;
}

/** The first pepper; a second one is added beside it, and credentials say which they were stored under. */
const pepperVersion = 1n;

/** Makes an operator. The credential is answered here once and cannot be had again. */
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

/** Whose credential it is, or what is wrong with it. */
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
