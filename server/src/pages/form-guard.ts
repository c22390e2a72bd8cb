import { createHmac } from 'node:crypto';
import { isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { html, type Html } from '../kit/html.ts';
import { isReservedName } from '../kit/outbound-guard.ts';
import { isSameText } from '../kit/same-text.ts';
import { textOf } from '../kit/untyped.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** On a development server only: accepts forms from any address by which this machine was reached. */
    trustsHostHeader?: boolean;
  }
}

/**
 * Decides whether a form post came from our own page (CSRF protection). There are no logins: everyone who knows a page's URL can
 * use it. The guard prevents other sites from submitting its forms in the payer's browser.
 */
export interface FormGuard {
  /** The hidden field for the forms of the page `scope`. */
  field(scope: string): Html;
  allows(request: FastifyRequest, scope: string): boolean;
}

/** What pages with forms are made with. */
export interface FormGuardOptions {
  /** The service's public URL; a function, because the port is known only once it listens. */
  publicUrl: () => string;
  /** Secret, and the same in every process: one may render the form and another receive it. */
  formKey: string | Uint8Array;
}

const fieldName = 'form_proof';
const proofLength = 22;

export function createFormGuard(options: FormGuardOptions): FormGuard {
  const proof = (scope: string): string =>
    createHmac('sha256', options.formKey).update(`form ${scope}`).digest('base64url').slice(0, proofLength);
  return {
    field: (scope) => html`<input type="hidden" name="${fieldName}" value="${proof(scope)}">`,
    allows(request, scope) {
      if (isRebound(request, options.publicUrl())) return false;
      const site = request.headers['sec-fetch-site'];
      const origin = originOf(request);
      if (origin !== null && !isPublic(origin, options.publicUrl()) && !isReachedBy(origin, request)) return false;
      if (site === 'same-origin') return true;
      if (site !== undefined && site !== 'none') return false;
      // Old browsers, and all browsers on plain http, send no Sec-Fetch-Site; and because our pages send no referrer, the origin
      // of our own forms is "null". Then the hidden field must prove that the form is ours.
      return origin !== null || isSameText(postedField(request), proof(scope));
    },
  };
}

/** Null if the browser did not send one, or sent the word "null". */
function originOf(request: FastifyRequest): string | null {
  const { origin } = request.headers;
  return origin === undefined || origin === 'null' ? null : origin;
}

/** Also matches https while PUBLIC_URL still says http, as behind a proxy with TLS. */
function isPublic(origin: string, publicUrl: string): boolean {
  const own = new URL(publicUrl);
  return origin === own.origin || origin === `https://${own.host}`;
}

/**
 * A development server has no proxy that selects requests by host, so any domain that resolves to this machine reaches it (DNS
 * rebinding), and an attacker's page then has the same origin as ours. Every domain that can be registered is suspect; IP
 * addresses, local names and PUBLIC_URL's host are not.
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
 * A development server is also reached by its address in the local network. Elsewhere the Host header proves nothing: it can be
 * an attacker's domain that resolves to us, which is then also the origin of the attacker's page.
 */
function isReachedBy(origin: string, request: FastifyRequest): boolean {
  if (request.server.trustsHostHeader !== true) return false;
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

function postedField(request: FastifyRequest): string {
  const body = request.body as Record<string, unknown> | null | undefined;
  return textOf(body?.[fieldName]);
}
