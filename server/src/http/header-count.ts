import type { FastifyRequest } from 'fastify';

/** How often a header field (in small letters) was sent. Node joins or drops repetitions before anybody else sees them. */
export function headerCount(request: FastifyRequest, name: string): number {
  return request.raw.rawHeaders.filter((sent, index) => index % 2 === 0 && sent.toLowerCase() === name).length;
}
