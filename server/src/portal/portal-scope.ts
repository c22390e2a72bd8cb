import cookie from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Realm } from '../accounts/account.ts';
import type { AccountContext } from '../accounts/context.ts';
import { homeOf } from '../accounts/sign-up.ts';
import { AppError } from '../api/app-error.ts';
import type { Html } from '../kit/html.ts';
import type { Log } from '../kit/log.ts';
import type { PageSender } from '../pages/document.ts';
import { type FormGuard, type FormGuardOptions, createFormGuard } from '../pages/form-guard.ts';
import { preparePageScope } from '../pages/page-scope.ts';
import type { Assets } from './assets.ts';
import { createPortalSender, portalHeaders } from './document.ts';
import { portalErrorPage } from './error-page.ts';
import { createVisitorCookies, type VisitorCookies } from './visitor.ts';

export interface PortalOptions extends FormGuardOptions {
  context: AccountContext;
  log: Log;
  assets: Assets;
  /** Whose logins open the pages. Default: merchants'. */
  realm?: Realm;
}

/** What the pages behind a sign-in are made with. */
export interface PortalParts {
  context: AccountContext;
  realm: Realm;
  /** The head of the realm's addresses: `/dashboard` or `/operator`. */
  home: string;
  cookies: VisitorCookies;
  send(
    request: FastifyRequest,
    reply: FastifyReply,
    page: { status: number; title: string; body: Html; head?: Html },
  ): Promise<FastifyReply>;
  /** The hidden field that proves a form to be ours, and of this session. */
  guardField(request: FastifyRequest): Html;
}

/** Sets up a scope of pages behind a sign-in. */
export async function preparePortalScope(scope: FastifyInstance, options: PortalOptions): Promise<PortalParts> {
  const { context, log, publicUrl, formKey, assets, realm = 'merchant' } = options;
  const home = homeOf(realm);
  const sender: PageSender = createPortalSender({ publicUrl, assets });
  const guard = createFormGuard({ publicUrl, formKey });
  const cookies = createVisitorCookies({ context, realm, publicUrl, formKey });
  const sessionGuard: FormGuard = { ...guard, allows: (request) => guard.allows(request, scopeOf(request)) };
  await scope.register(cookie);
  // First, so that no response goes without, whoever writes it.
  scope.addHook('onRequest', async (_request, reply) => {
    const { 'content-type': _type, ...headers } = portalHeaders(publicUrl());
    reply.headers(headers);
  });
  scope.addHook('preValidation', refuseNul);
  // Before the guard, which binds a form to its session.
  cookies.prepare(scope);
  await preparePageScope(scope, {
    ...{ sender, guard: sessionGuard, publicUrl, log, errorPage: portalErrorPage },
    // Leads whoever is not signed in on to the sign-in.
    homeOf: () => home,
  });
  // Whatever a form writes may seal: a mail, a secret. In the transaction it is too late to read which key is in use.
  scope.addHook('preHandler', async ({ method }) => {
    if (method === 'POST') await context.sealer.prepare();
  });
  return {
    context,
    realm,
    home,
    cookies,
    send: (request, reply, { status, ...page }) =>
      sender.send(request, reply, { status, content: { ...page, refreshSeconds: null } }),
    guardField: (request) => guard.field(scopeOf(request)),
  };
}

function scopeOf({ signedIn }: FastifyRequest): string {
  return signedIn ? `session ${signedIn.session.id}` : 'visitor';
}

/** NUL characters, which nobody types and the database cannot store. Throws AppError. */
async function refuseNul({ params, query, body }: FastifyRequest): Promise<void> {
  const sent = [params, query, body].flatMap((fields) => Object.entries(fields ?? {}).flat(2) as unknown[]);
  if (!sent.some((text) => typeof text === 'string' && text.includes('\0'))) return;
  throw new AppError('invalid_request', 'NUL characters are not allowed.');
}
