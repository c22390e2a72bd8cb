import type { Transaction } from '../kit/db.ts';
import { normalizedEmail, type Account } from './account.ts';
import type { AccountContext } from './context.ts';
import { findAccountByEmail, insertAccount } from './queries.ts';
import { checkEmail, checkName, createLinkToken, homeOf, newAccount } from './sign-up.ts';

export interface PreparedLogin {
  account: Account;
  /** Where its owner chooses a password, within seven days; null once there is a password. */
  link: string | null;
}

/**
 * Makes an operator's login without a password, or finds it; only the newest link works. The link of a login that has a password
 * already would let whoever runs a command in, so there is none: its owner asks for one by mail. Throws AppError that names each field.
 */
export async function prepareLogin(
  tx: Transaction,
  context: Pick<AccountContext, 'clock' | 'random' | 'newId' | 'publicUrl'>,
  { email, name }: { email: string; name: string },
): Promise<PreparedLogin> {
  checkName(name, 'name');
  checkEmail(email);
  const login = { realm: 'operator', email: normalizedEmail(email), name: name.trim(), passwordHash: null } as const;
  const found = await findAccountByEmail(tx, 'operator', login.email);
  const account = found ?? newAccount(context, login);
  // Somebody else has just made it.
  if (!found && (await insertAccount(tx, account)) === 0) return prepareLogin(tx, context, { email, name });
  if (account.passwordHash !== null) return { account, link: null };
  const token = createLinkToken(tx, context, { accountId: account.id, purpose: 'set_password' });
  return { account, link: `${context.publicUrl()}${homeOf('operator')}/reset/${token}` };
}
