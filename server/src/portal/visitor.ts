import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { createToken } from '../accounts/one-time-text.ts';
import { findSignedIn, type Client, type SignedIn } from '../accounts/sessions.ts';
import type { AccountContext } from '../accounts/context.ts';
import type { Realm } from '../accounts/account.ts';
import { isSameText } from '../kit/same-text.ts';
import { createPageCookies } from '../pages/page-cookies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who is signed in, also before the second factor; null on the pages that anybody sees. */
    signedIn: SignedIn | null;
  }
}

const sessionSeconds = 12 * 3600;
const deviceSeconds = 180 * 24 * 3600;
const signatureLength = 22;

export type VisitorCookies = ReturnType<typeof createVisitorCookies>;

interface VisitorCookieOptions {
  context: AccountContext;
  realm: Realm;
  publicUrl: () => string;
  /** Signs the cookie of a known browser. */
  formKey: string | Uint8Array;
}

/** The cookies of the pages behind a sign-in: the session, and whether a browser has signed an address in before. */
export function createVisitorCookies({ context, realm, publicUrl, formKey }: VisitorCookieOptions) {
  const cookies = createPageCookies(publicUrl);
  const [sessionCookie, deviceCookie] = [`${realm}-session`, `${realm}-device`];
  const signature = (id: string, email: string): string =>
    createHmac('sha256', formKey)
      .update(`device ${realm} ${id} ${email}`)
      .digest('base64url')
      .slice(0, signatureLength);
  /** Who is signed in now, for a response that goes on for long; `isUse` says whether that keeps the session alive. */
  const find = async (request: FastifyRequest, { isUse }: { isUse: boolean }): Promise<SignedIn | null> => {
    const token = cookies.read(request, sessionCookie);
    if (token === undefined || token === '') return null;
    const found = await findSignedIn(context, token, isUse ? request.ip : null);
    return found?.account.realm === realm ? found : null;
  };
  return {
    find,
    /** Gives each request of a scope its `signedIn`: before its body is read, and once more after that. */
    prepare(scope: FastifyInstance): void {
      scope.decorateRequest('signedIn', null);
      scope.addHook('onRequest', async (request) => {
        request.signedIn = await find(request, { isUse: true });
      });
      // A form may take half a minute to arrive, in which its session may end.
      scope.addHook('preHandler', async (request) => {
        if (request.method === 'POST' && request.signedIn) request.signedIn = await find(request, { isUse: false });
      });
    },
    set: (request: FastifyRequest, reply: FastifyReply, token: string) =>
      cookies.set(request, reply, { name: sessionCookie, value: token, maxAgeSeconds: sessionSeconds }),
    clear: (request: FastifyRequest, reply: FastifyReply) =>
      cookies.set(request, reply, { name: sessionCookie, value: '', maxAgeSeconds: 0 }),
    /** The id of a browser that signed this address in before; null for one that did not. */
    knownDevice(request: FastifyRequest, email: string): string | null {
      const [id = '', signed = ''] = (cookies.read(request, deviceCookie) ?? '').split('.');
      return id !== '' && isSameText(signed, signature(id, email)) ? id : null;
    },
    rememberDevice(request: FastifyRequest, reply: FastifyReply, email: string): void {
      const id = createToken(context.random);
      const value = `${id}.${signature(id, email)}`;
      cookies.set(request, reply, { name: deviceCookie, value, maxAgeSeconds: deviceSeconds });
    },
  };
}

/** Where a request comes from, for the list of sessions. */
export function clientOf(request: FastifyRequest): Client {
  return { device: request.headers['user-agent'] ?? '', address: request.ip, requestId: request.id };
}

const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['SamsungBrowser', 'Samsung Internet'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;

const systems = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS', 'Mac'],
  ['Linux', 'Linux'],
] as const;

/** A browser as people call it, from its User-Agent: `Chrome on Android`. It proves nothing: a client writes what it likes. */
export function deviceName(userAgent: string): string {
  const find = (names: readonly (readonly [string, string])[]) => names.find(([part]) => userAgent.includes(part))?.[1];
  const [browser, system] = [find(browsers), find(systems)];
  if (browser === undefined) return system ?? 'Unknown browser';
  return system === undefined ? browser : `${browser} on ${system}`;
}
