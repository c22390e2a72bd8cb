import type { FastifyInstance, FastifyRequest } from 'fastify';
import { acceptedLanguage, findLanguage, type Language } from '../languages/languages.ts';
import type { PageCookies } from './page-cookies.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The payer's language: chosen by a link on the page, else the browser's. */
    language: Language;
  }
}

const cookieName = 'language';
const rememberedSeconds = 365 * 24 * 60 * 60;

/** Gives each request of a scope its language. `?lang=wo`, as the links of a page say, is remembered by a cookie. */
export function preparePageLanguage(scope: FastifyInstance, cookies: PageCookies): void {
  scope.decorateRequest('language');
  scope.addHook('onRequest', async (request, reply) => {
    const chosen = chosenLanguage(request);
    if (chosen) cookies.set(request, reply, { name: cookieName, value: chosen.code, maxAgeSeconds: rememberedSeconds });
    request.language =
      chosen ??
      findLanguage(cookies.read(request, cookieName) ?? '') ??
      acceptedLanguage(request.headers['accept-language']);
  });
}

/** The language of a page outside these scopes, which has no cookies. */
export function requestedLanguage(request: FastifyRequest): Language {
  return chosenLanguage(request) ?? acceptedLanguage(request.headers['accept-language']);
}

function chosenLanguage(request: FastifyRequest): Language | undefined {
  // A malformed URL has no query.
  const { lang } = (request.query ?? {}) as { lang?: unknown };
  return typeof lang === 'string' ? findLanguage(lang) : undefined;
}
