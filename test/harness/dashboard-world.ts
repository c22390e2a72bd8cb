import type { Account, Realm } from '../../server/src/accounts/account.ts';
import type { AccountContext } from '../../server/src/accounts/context.ts';
import { createMember } from '../../server/src/accounts/create-member.ts';
import { hashPassword } from '../../server/src/accounts/password.ts';
import type { MerchantRole } from '../../server/src/accounts/permissions.ts';
import { enableTotp, prepareTotp } from '../../server/src/accounts/second-factor.ts';
import { startSession } from '../../server/src/accounts/sessions.ts';
import { uuidV7 } from '../../server/src/kit/ids.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { pairAuthenticator } from './authenticator.ts';
import { createApiClient, type ApiClient } from './api-client.ts';
import { startService, type TestBusiness, type TestService, type TestServiceOptions } from './service.ts';

/** A service with a business whose people are signed in to the dashboard. */
export interface DashboardWorld {
  service: TestService;
  business: TestBusiness;
  /** The API of the business in its test environment. */
  api: ApiClient;
  accounts: AccountContext;
  /** The mails that logins caused. */
  mails: { to: string; subject: string; text: string }[];
  /** The address of a page in the test environment, or with `live` in the other. */
  at(path: string, environment?: 'test' | 'live'): string;
  signIn(role: MerchantRole, options?: MemberOptions): Promise<Member>;
  stop(): Promise<void>;
}

interface MemberOptions {
  /** A cashier's own counters. */
  terminalIds?: string[];
  /** Of another business than the world's. */
  business?: TestBusiness;
  name?: string;
}

/** Somebody who is signed in. */
export interface Member {
  account: Account;
  /** The service's address. */
  url: string;
  /** The newest: a second factor gives the session another token. */
  readonly cookie: string;
  /** The current code of the authenticator app, each call a new one that was not used yet. */
  code(): string;
  /** A request with the session's cookie, as a browser sends it from our own page; redirects are not followed. */
  get(url: string): Promise<Response>;
  post(url: string, fields?: Readonly<Record<string, string>>): Promise<Response>;
}

const password = 'mango pirogue laterite drum';
let passwordHash: Promise<string> | undefined;

export async function openDashboardWorld(options: TestServiceOptions = {}): Promise<DashboardWorld> {
  const service = await startService(options);
  const business = await service.onboard();
  const { db, clock, secrets } = service;
  const mails: DashboardWorld['mails'] = [];
  const accounts: AccountContext = {
    ...{ db, clock, random: systemRandom, newId: () => uuidV7(clock, systemRandom) },
    ...{ sealer: secrets.sealer, pepper: secrets.pepper, publicUrl: () => service.url },
    sendMail: (_tx, mail) => void mails.push(mail),
  };
  await secrets.sealer.prepare();
  let members = 0;
  return {
    ...{ service, business, accounts, mails },
    api: createApiClient(service.url, business.test.key),
    at: (path, environment = 'test') =>
      `${service.url}/dashboard/${environment}/${business[environment].merchant.shortId}${path}`,
    signIn: async (role, { terminalIds = [], business: employer = business, name = `Awa ${role}` } = {}) => {
      passwordHash ??= hashPassword(systemRandom, password);
      const hash = await passwordHash;
      members += 1;
      const email = `${role}-${members}@example.gm`;
      const account = await db.withTransaction((tx) =>
        createMember(tx, accounts, {
          ...{ email, name, passwordHash: hash, businessId: employer.test.merchant.businessId },
          grant: { role, terminalIds },
        }),
      );
      return signInMember(service, accounts, account);
    },
    stop: () => service.stop(),
  };
}

async function signInMember({ url }: TestService, context: AccountContext, account: Account): Promise<Member> {
  const { db } = context;
  await context.sealer.prepare();
  const secret = await db.withTransaction((tx) => prepareTotp(tx, context, account));
  const prepared = { ...account, totpSecret: Buffer.alloc(0) };
  const code = await pairAuthenticator({
    ...{ secret: secret.text, clock: context.clock },
    enable: (typed) => db.withTransaction((tx) => enableTotp(tx, context, { account: prepared, code: typed })),
  });
  const client = { device: 'Chromium on Linux', address: '127.0.0.1', requestId: 'req_1' };
  const { token } = await db.withTransaction(async (tx) =>
    startSession(tx, context, account.id, { client, isComplete: true, withFactor: false }),
  );
  let cookie = `merchant-session=${token}`;
  const request = async (target: string, init: RequestInit = {}): Promise<Response> => {
    // Thousands of pages are opened only for their text: a tenth of the time would go into compressing it.
    const headers = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html', 'accept-encoding': 'identity' };
    const response = await fetch(target, { ...init, headers, redirect: 'manual' });
    cookie = sessionCookieOf(response, 'merchant') ?? cookie;
    return response;
  };
  return {
    ...{ account, url, code },
    get cookie() {
      return cookie;
    },
    get: (target) => request(target),
    post: (target, fields = {}) => request(target, { method: 'POST', body: new URLSearchParams(fields) }),
  };
}

/** The cookie of a session that a response starts or renews; undefined for one that leaves it as it is. */
export function sessionCookieOf(response: Response, realm: Realm): string | undefined {
  const line = response.headers.getSetCookie().find((each) => each.startsWith(`${realm}-session=`));
  return line?.split(';')[0];
}
