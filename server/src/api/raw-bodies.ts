import type { FastifyInstance } from 'fastify';

/** Lets the routes of a scope take bodies of every type as their bytes, over which whoever sent them has signed. */
export function takeRawBodies(scope: FastifyInstance, bodyLimit: number): void {
  scope.removeAllContentTypeParsers();
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, async (_request: unknown, body: Buffer) => body);
}
