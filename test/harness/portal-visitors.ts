import assert from 'node:assert/strict';
import type { Realm } from '../../server/src/accounts/account.ts';
import type { AccountContext } from '../../server/src/accounts/context.ts';
import { findSignedIn, startSession, type SignedIn } from '../../server/src/accounts/sessions.ts';
import type { TestService } from './service.ts';
import { asOwner } from './tables.ts';

/** Somebody at a page of the portal's own, with a cookie of its realm. */
export interface PortalVisitor {
  role: string;
  cookie: string;
  /** `no`: nobody, or somebody of the other realm; `half`: before the second factor. */
  isSignedIn: 'no' | 'half' | 'yes';
}

const tokenOf = (cookie: string): string => cookie.split('=')[1] ?? '';

export async function findLogin(accounts: AccountContext, cookie: string): Promise<SignedIn | undefined> {
  return findSignedIn(accounts, tokenOf(cookie), null);
}

/** Everybody who may come by: `people` by role, `other` of the other realm, and `half`, whose second factor is still to come. */
export async function portalVisitors(
  accounts: AccountContext,
  realm: Realm,
  {
    people,
    other,
    half,
  }: { people: [string, { cookie: string }][]; other: { cookie: string }; half: { cookie: string } },
): Promise<PortalVisitor[]> {
  const name = `${realm}-session`;
  const login = await findLogin(accounts, half.cookie);
  assert.ok(login);
  const client = { device: '', address: '127.0.0.1', requestId: 'req_1' };
  const started = await accounts.db.withTransaction(async (tx) =>
    startSession(tx, accounts, login.account.id, { client, isComplete: false, withFactor: false }),
  );
  return [
    { role: 'nobody', cookie: '', isSignedIn: 'no' },
    { role: 'the other realm', cookie: `${name}=${tokenOf(other.cookie)}`, isSignedIn: 'no' },
    { role: 'before the second factor', cookie: `${name}=${started.token}`, isSignedIn: 'half' },
    ...people.map(([role, { cookie }]): PortalVisitor => ({ role, cookie, isSignedIn: 'yes' })),
  ];
}

/** What belongs to logins, and changes when somebody acts on one. */
export function storedLogins(service: TestService): Promise<object[]> {
  return asOwner(
    service,
    `SELECT accounts.id, totp_confirmed_at, password_hash, name,
            (SELECT count(*) FROM account_sessions WHERE account_id = accounts.id)::int AS sessions,
            (SELECT count(*) FROM account_recovery_codes WHERE account_id = accounts.id)::int AS codes,
            (SELECT count(*) FROM account_passkeys WHERE account_id = accounts.id)::int AS passkeys
       FROM accounts ORDER BY id`,
  );
}
