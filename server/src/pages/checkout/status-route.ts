import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { AppError } from '../../kit/app-error.ts';
import { createStatusStreams } from './status-streams.ts';
import type { StatusStreamsOptions } from './status-streams.ts';
import { stateName } from './step.ts';

// Each stream reads its payment every two seconds: 250 reads a second at most, a small part of what one process can do.
const streamsMaxDefault = 500;

const streamHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface StatusRouteOptions extends Omit<StatusStreamsOptions, 'streamsMax'> {
  /** 500 unless told otherwise. */
  streamsMax?: number;
}

/** `GET /:token/status`: the state's name, as a stream to whoever asks for events and as one line to anybody else. */
export function registerStatusRoute(scope: FastifyInstance, options: StatusRouteOptions): void {
  const streams = createStatusStreams({ ...options, streamsMax: options.streamsMax ?? streamsMaxDefault });
  scope.addHook('preClose', async () => streams.endAll());
  scope.get(
    '/:token/status',
    { exposeHeadRoute: false },
    async (request: FastifyRequest<{ Params: { token: string } }>, reply) => {
      const { token } = request.params;
      const view = await options.checkout.find(token);
      if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
      if (!String(request.headers.accept).includes('text/event-stream')) {
        return reply.headers(streamHeaders).type('text/plain; charset=utf-8').send(stateName(view));
      }
      if (!streams.hasCapacity(token)) {
        throw new AppError('unavailable', 'Too many pages are open just now.', { retryAfterSeconds: 5 });
      }
      reply.hijack();
      reply.raw.writeHead(200, {
        ...(reply.getHeaders() as OutgoingHttpHeaders),
        ...streamHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        // Proxies that gather what they pass on would hold the news back.
        'x-accel-buffering': 'no',
      });
      await streams.streamStates({ response: reply.raw, token, view });
      return reply;
    },
  );
}
