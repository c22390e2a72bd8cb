import type { Transaction } from '../kit/db.ts';
import { normalizedEmail, type Account } from './account.ts';
import type { AccountContext } from './context.ts';
import { insertAccount } from './queries.ts';
import { insertMembership } from './queries/team.ts';
import { newAccount } from './sign-up.ts';
import type { Grant } from './team.ts';

/** A person whose login somebody who runs the service makes: the demo's owner. */
export interface NewMember {
  email: string;
  name: string;
  /** Of `hashPassword`. */
  passwordHash: string;
  businessId: string;
  grant: Grant;
}

/** Makes a login in a business. Its address counts as verified: who makes it answers for it. */
export async function createMember(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'newId'>,
  { email, name, passwordHash, businessId, grant }: NewMember,
): Promise<Account> {
  const login = { realm: 'merchant', email: normalizedEmail(email), name, passwordHash, isVerified: true } as const;
  const account = newAccount(context, login);
  await insertAccount(tx, account);
  const { createdAt } = account;
  await insertMembership(tx, { ...grant, businessId, accountId: account.id, roleChangedAt: createdAt, createdAt });
  return account;
}
