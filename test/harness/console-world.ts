import assert from 'node:assert/strict';
import type { OperatorRole } from '../../server/src/accounts/permissions.ts';
import { enableTotp, prepareTotp } from '../../server/src/accounts/second-factor.ts';
import { findSignedIn, startSession } from '../../server/src/accounts/sessions.ts';
import { createLogin } from '../../server/src/console/logins/create-login.ts';
import { pairAuthenticator } from './authenticator.ts';
import { openDashboardWorld, sessionCookieOf, type DashboardWorld } from './dashboard-world.ts';
import type { TestServiceOptions } from './service.ts';

/** Somebody with a browser, signed in or not; redirects are not followed. */
export interface Visitor {
  /** The service's address. */
  url: string;
  /** The newest: signing in and a second factor give another. */
  readonly cookie: string;
  get(path: string): Promise<Response>;
  post(path: string, fields: Readonly<Record<string, string>>): Promise<Response>;
  /** Opens the page and sends its form, with the hidden fields that it has. */
  submit(path: string, fields: Readonly<Record<string, string>>): Promise<Response>;
}

export interface SignedInOperator extends Visitor {
  operatorId: string;
  name: string;
  /** A code of the authenticator app that was not used yet. */
  code(): string;
}

/** A service with a business, and operators who are signed in to the console. */
export interface ConsoleWorld {
  dashboard: DashboardWorld;
  businessId: string;
  visitor(cookie?: string): Visitor;
  /** What `logins create` does. */
  createLogin(login: { email: string; name: string; role: string }): Promise<{ link: string | null }>;
  signInOperator(role: OperatorRole): Promise<SignedInOperator>;
  stop(): Promise<void>;
}

export async function openConsoleWorld(options: TestServiceOptions = {}): Promise<ConsoleWorld> {
  const dashboard = await openDashboardWorld(options);
  const { accounts, service, business } = dashboard;
  let count = 0;
  return {
    dashboard,
    visitor: (cookie = '') => createVisitor(service.url, cookie),
    businessId: business.test.merchant.businessId,
    createLogin: (login) => accounts.db.withTransaction((tx) => createLogin(tx, accounts, login)),
    signInOperator: (role) => {
      count += 1;
      const login = { email: `${role}-${count}@operator.gm`, name: `Lamin ${role} ${count}`, role };
      return signInOperator(dashboard, login);
    },
    stop: () => dashboard.stop(),
  };
}

/** Somebody with a browser, who keeps the cookie of the operators' console. */
export function createVisitor(url: string, firstCookie: string): Visitor {
  let cookie = firstCookie;
  const request = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { cookie, 'sec-fetch-site': 'same-origin', accept: 'text/html', 'accept-encoding': 'identity' };
    const response = await fetch(new URL(path, url), { ...init, headers, redirect: 'manual' });
    cookie = sessionCookieOf(response, 'operator') ?? cookie;
    return response;
  };
  const post: Visitor['post'] = (path, fields) => request(path, { method: 'POST', body: new URLSearchParams(fields) });
  return {
    url,
    get cookie() {
      return cookie;
    },
    get: (path) => request(path),
    post,
    submit: async (path, fields) => {
      const text = await (await request(path)).text();
      const form = /<form method="post"[^]*?<\/form>/.exec(text)?.[0] ?? '';
      const hidden = [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
      return post(path, { ...Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value])), ...fields });
    },
  };
}

async function signInOperator(
  { accounts, service: { url, clock } }: DashboardWorld,
  newLogin: { email: string; name: string; role: OperatorRole },
): Promise<SignedInOperator> {
  const { db } = accounts;
  const { login } = await db.withTransaction((tx) => createLogin(tx, accounts, newLogin));
  const client = { device: 'Chromium on Linux', address: '127.0.0.1', requestId: 'req_1' };
  const { token } = await db.withTransaction(async (tx) =>
    startSession(tx, accounts, login.accountId, { client, isComplete: true, withFactor: false }),
  );
  const signedIn = await findSignedIn(accounts, token, client.address);
  assert.ok(signedIn);
  const { account } = signedIn;
  await accounts.sealer.prepare();
  const secret = await db.withTransaction((tx) => prepareTotp(tx, accounts, account));
  const code = await pairAuthenticator({
    ...{ secret: secret.text, clock },
    enable: (typed) => db.withTransaction((tx) => enableTotp(tx, accounts, { account, code: typed })),
  });
  const visitor = createVisitor(url, `operator-session=${token}`);
  // Not a copy, which would keep the first cookie.
  return Object.assign(visitor, { operatorId: login.operatorId, name: login.name, code });
}
