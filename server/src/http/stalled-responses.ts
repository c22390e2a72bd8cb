import type { FastifyInstance } from 'fastify';

/**
 * Closes a connection whose client does not read: the answers that it asked for would stay in memory, ours and the system's,
 * for as long as it likes. Node looks once in `timeoutMs` whether the system took another byte, so that it takes at most twice
 * that. A reset instead of an end, because the system would go on offering to the client what it has taken.
 *
 * A hijacked answer, as the streams of open pages are, is not watched: it grows by a line now and then, and there are few.
 */
export function closeStalledResponses(app: FastifyInstance, timeoutMs: number): void {
  app.addHook('onSend', async (_request, reply) => {
    const { raw: response } = reply;
    response.setTimeout(timeoutMs, () => response.socket?.resetAndDestroy());
  });
}
