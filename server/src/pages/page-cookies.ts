import '@fastify/cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';

export interface PageCookie {
  name: string;
  value: string;
  maxAgeSeconds: number;
}

/**
 * The cookies of the hosted pages. Scripts cannot read them, other sites do not cause them to be sent with a form, and with https
 * no other host can set them (the prefix `__Host-`, RFC 6265bis, section 4.1.3). Without https browsers drop such cookies.
 */
export interface PageCookies {
  /** From this request on: what is rendered in response reads the cookie already. */
  set(request: FastifyRequest, reply: FastifyReply, cookie: PageCookie): void;
  read(request: FastifyRequest, name: string): string | undefined;
}

export function createPageCookies(publicUrl: () => string): PageCookies {
  const isSecure = (): boolean => new URL(publicUrl()).protocol === 'https:';
  const fullName = (name: string): string => (isSecure() ? `__Host-${name}` : name);
  return {
    set(request, reply, { name, value, maxAgeSeconds: maxAge }) {
      const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(), maxAge } as const;
      request.cookies[fullName(name)] = value;
      void reply.setCookie(fullName(name), value, options);
    },
    read: (request, name) => request.cookies[fullName(name)],
  };
}
