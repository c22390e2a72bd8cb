import { createMember } from '../../server/src/accounts/create-member.ts';
import type { AccountContext } from '../../server/src/accounts/context.ts';
import { hashPassword } from '../../server/src/accounts/password.ts';
import { findSignedIn, startSession } from '../../server/src/accounts/sessions.ts';
import type { Account } from '../../server/src/accounts/account.ts';
import { enableTotp, prepareTotp } from '../../server/src/accounts/second-factor.ts';
import { createLogin } from '../../server/src/console/logins/create-login.ts';
import type { Secrets } from '../../server/src/configuration/secrets.ts';
import type { Clock } from '../../server/src/kit/clock.ts';
import type { Database } from '../../server/src/kit/db.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import type { Random } from '../../server/src/kit/random.ts';
import { updateTransferApproval } from '../../server/src/merchants/transfer-approval.ts';
import { pairAuthenticator } from '../harness/authenticator.ts';
import type { ConsoleLogin } from './console-operators.ts';
import type { Member } from './dashboard.ts';
import type { TeamMember } from './team.ts';
import { publicUrl } from './machines.ts';

const address = '127.0.0.1';
const password = 'mango pirogue laterite drum';
// Of people who never sign in by a password.
const unusedHash = 'none';
/** Above it, a payout that somebody asks for needs a second person. */
const approveAboveMinor = 8_000n;

interface HiringOptions {
  clock: Clock;
  random: Random;
  secrets: Secrets;
}

/** An owner and somebody of finance, or two owners where both change settings, each with an authenticator app. */
export async function hireMembers(
  db: Database,
  { businessId, hasDesk }: { businessId: string; hasDesk: boolean },
  options: HiringOptions,
): Promise<Member[]> {
  const context = contextOf(db, options);
  const passwordHash = await hashPassword(options.random, password);
  const members: Member[] = [];
  for (const [name, role] of [
    ['Awa', 'owner'],
    ['Binta', hasDesk ? 'owner' : 'finance'],
  ] as const) {
    const email = `${name.toLowerCase()}@example.gm`;
    const login = { email, name, passwordHash, businessId, grant: { role, terminalIds: [] } };
    const account = await db.withTransaction((tx) => createMember(tx, context, login));
    members.push({ email, password, code: await pairApp(context, account) });
  }
  await db.withTransaction(async (tx) => tx.send(updateTransferApproval(businessId, approveAboveMinor)));
  return members;
}

/** Two owners and a developer, who are signed in to the dashboard. */
export async function hireTeam(db: Database, businessId: string, options: HiringOptions): Promise<TeamMember[]> {
  const context = contextOf(db, options);
  const team: TeamMember[] = [];
  for (const [role, name] of [
    ['owner', 'Awa'],
    ['owner', 'Binta'],
    ['developer', 'Modou'],
  ] as const) {
    const email = `${name.toLowerCase()}@example.gm`;
    const login = { email, name, passwordHash: unusedHash, businessId, grant: { role, terminalIds: [] } };
    const account = await db.withTransaction((tx) => createMember(tx, context, login));
    const { cookie, code } = await signIn(context, account.id);
    team.push({ accountId: account.id, email, cookie, code });
  }
  return team;
}

/** Two operators, who are signed in to the console. */
export async function hireConsoleOperators(db: Database, options: HiringOptions): Promise<ConsoleLogin[]> {
  const context = contextOf(db, options);
  const logins: ConsoleLogin[] = [];
  for (const name of ['Isatou', 'Ebrima']) {
    const named = { email: `${name.toLowerCase()}@operator.gm`, name, role: 'admin' };
    const { login } = await db.withTransaction((tx) => createLogin(tx, context, named));
    const signInAgain = () => newSession(context, login.accountId);
    logins.push({ operatorId: login.operatorId, ...(await signIn(context, login.accountId)), signInAgain });
  }
  return logins;
}

/** Without a password: its hash takes a time that no step has. */
async function signIn(context: AccountContext, accountId: string): Promise<{ cookie: string; code: () => string }> {
  const cookie = await newSession(context, accountId);
  const signedIn = await findSignedIn(context, cookie, address);
  if (!signedIn) throw new Error(`${accountId} is not signed in`);
  return { cookie, code: await pairApp(context, signedIn.account) };
}

async function newSession(context: AccountContext, accountId: string): Promise<string> {
  const client = { device: 'Firefox on Linux', address, requestId: 'req_1' };
  const { token } = await context.db.withTransaction(async (tx) =>
    startSession(tx, context, accountId, { client, isComplete: true, withFactor: false }),
  );
  return token;
}

function contextOf(db: Database, { clock, random, secrets: { sealer, pepper } }: HiringOptions): AccountContext {
  return {
    ...{ db, clock, random, newId: () => uuidV7(clock, random), sealer, pepper, publicUrl: () => publicUrl },
    sendMail: () => {},
  };
}

async function pairApp(context: AccountContext, account: Account): Promise<() => string> {
  const { db, clock } = context;
  const secret = await db.withTransaction((tx) => prepareTotp(tx, context, account));
  const prepared = { ...account, totpSecret: Buffer.alloc(0) };
  return pairAuthenticator({
    ...{ secret: secret.text, clock },
    enable: (typed) => db.withTransaction((tx) => enableTotp(tx, context, { account: prepared, code: typed })),
  });
}
