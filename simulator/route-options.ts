import type { FastifySchema } from 'fastify';

/** Route options: another service's API is not part of this one's OpenAPI document. */
export const hidden: { schema: FastifySchema & { hide: boolean } } = { schema: { hide: true } };
