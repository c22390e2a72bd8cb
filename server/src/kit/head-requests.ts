import type { IncomingMessage } from 'node:http';

const heads = new WeakSet<IncomingMessage>();

/**
 * A HEAD request takes the route of GET: Node has seen its method and leaves the body out. With a route of its own for each, which
 * is Fastify's default, a start would register half as many routes again.
 */
export function serveHeadAsGet(request: IncomingMessage): string {
  if (request.method === 'HEAD') {
    heads.add(request);
    request.method = 'GET';
  }
  return request.url ?? '';
}

/** As the client sent it. */
export function methodOf(request: IncomingMessage): string {
  return heads.has(request) ? 'HEAD' : (request.method ?? '');
}

/** Whether a response may be a stream of events; to a HEAD it would have no end. */
export function acceptsEventStream(request: IncomingMessage): boolean {
  return !heads.has(request) && String(request.headers.accept).includes('text/event-stream');
}
