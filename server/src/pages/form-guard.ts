import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { html } from '../kit/html.ts';
import type { Html } from '../kit/html.ts';
import { isReservedName } from '../kit/outbound-guard.ts';
import { isSameText } from '../kit/same-text.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** On a development server only: forms also come from whatever address of this machine it was reached by. */
    trustsHostHeader?: boolean;
  }
}

/**
 * Decides whether a form post came from our own page (checks, H3). Nobody is logged in here, and who knows a page's
 * address may do what it offers; the guard keeps other sites from making a payer's browser do it unseen.
 */
export interface FormGuard {
  /** A hidden field that the forms of the page `scope` carry. */
  field(scope: string): Html;
  allows(request: FastifyRequest, scope: string): boolean;
}

export interface FormGuardOptions {
  publicUrl: () => string;
  /** Secret and the same in every process: one may render the form and another receive it. */
  key: string | Uint8Array;
}

const fieldName = 'form_proof';
const proofLength = 22;

export function createFormGuard(options: FormGuardOptions): FormGuard {
  const proof = (scope: string): string =>
    createHmac('sha256', options.key).update(`form ${scope}`).digest('base64url').slice(0, proofLength);
  return {
    field: (scope) => html`<input type="hidden" name="${fieldName}" value="${proof(scope)}">`,
    allows(request, scope) {
      if (isRebound(request, options.publicUrl())) return false;
      const site = request.headers['sec-fetch-site'];
      const origin = originOf(request);
      if (origin !== null && !isPublic(origin, options.publicUrl()) && !isReachedBy(origin, request)) return false;
      if (site === 'same-origin') return true;
      if (site !== undefined && site !== 'none') return false;
      // Old browsers, and all of them on plain http, say no site; and because our pages send no referrer the origin
      // is "null" even on our own forms. Then the field must show that the form is ours.
      return origin !== null || isSameText(postedField(request), proof(scope));
    },
  };
}

/** Null where the browser did not say, which it writes as the word. */
function originOf(request: FastifyRequest): string | null {
  const { origin } = request.headers;
  return origin === undefined || origin === 'null' ? null : origin;
}

/** Also over TLS, which a proxy may speak while PUBLIC_URL still says http. */
function isPublic(origin: string, publicUrl: string): boolean {
  const own = new URL(publicUrl);
  return origin === own.origin || origin === `https://${own.host}`;
}

/**
 * A development server has no proxy in front that picks requests by their host, so anybody's name that leads to this
 * machine reaches it (DNS rebinding), and their page is then of the same origin as ours. A name of theirs is one that can
 * be registered: addresses, names of the local network and PUBLIC_URL's own are not.
 */
function isRebound({ headers, server }: FastifyRequest, publicUrl: string): boolean {
  if (server.trustsHostHeader !== true) return false;
  const reached = URL.parse(`http://${headers.host ?? ''}`);
  if (reached === null) return true;
  const { hostname } = reached;
  const isAddress = isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
  return !isAddress && !isReservedName(hostname) && hostname !== new URL(publicUrl).hostname;
}

/**
 * A development server is also reached by its address in the local network. Elsewhere the Host header proves nothing: a name
 * of somebody else's that leads to us stands in it, and in the origin of their page.
 */
function isReachedBy(origin: string, request: FastifyRequest): boolean {
  if (request.server.trustsHostHeader !== true) return false;
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

function postedField(request: FastifyRequest): string {
  const body = request.body as Record<string, unknown> | null | undefined;
  const value = body?.[fieldName];
  return typeof value === 'string' ? value : '';
}
