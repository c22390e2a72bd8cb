import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { ChangeFeed, Topic } from '../kit/changes.ts';

/** Of a stream, and of what is sent in its place. */
export const streamHeaders = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

export interface OpenStream {
  response: ServerResponse;
  /** Aborted once either side has ended it. */
  ended: AbortSignal;
  changeSignal: ChangeSignal;
}

/** The open event streams of a process, each with what it is of. */
export class OpenStreams<Subject> {
  readonly #changes: ChangeFeed;
  readonly #open = new Map<AbortController, Subject>();

  constructor(changes: ChangeFeed) {
    this.#changes = changes;
  }

  subjects(): Subject[] {
    return [...this.#open.values()];
  }

  /** Sends what `write` writes until it returns, which it does soon after either side has ended the stream. */
  async send(
    reply: FastifyReply,
    { subject, topics }: { subject: Subject; topics: readonly Topic[] },
    write: (stream: OpenStream) => Promise<void>,
  ): Promise<FastifyReply> {
    reply.hijack();
    const response = reply.raw;
    response.writeHead(200, {
      ...(reply.getHeaders() as OutgoingHttpHeaders),
      ...streamHeaders,
      'content-type': 'text/event-stream; charset=utf-8',
      // Buffering proxies would delay the events.
      'x-accel-buffering': 'no',
    });
    const ended = new AbortController();
    this.#open.set(ended, subject);
    response.on('close', () => ended.abort());
    // The browser may have left while the page was being read.
    if (response.destroyed) ended.abort();
    const changeSignal = new ChangeSignal(ended.signal);
    const subscriptions = topics.map((topic) => this.#changes.subscribe(topic, () => changeSignal.notify()));
    try {
      await write({ response, ended: ended.signal, changeSignal });
    } finally {
      for (const unsubscribe of subscriptions) unsubscribe();
      this.#open.delete(ended);
      response.end();
    }
    return reply;
  }

  /** Ends all streams, so that a closing server does not wait for them. */
  endAll(): void {
    for (const stream of this.#open.keys()) stream.abort();
  }
}

/** Lets a stream wait for a change or the end of its sleep; a notification since the last wait counts, so that none is missed. */
class ChangeSignal {
  #isNotified = false;
  #waiting: AbortController | null = null;

  constructor(ended: AbortSignal) {
    ended.addEventListener('abort', () => this.notify());
  }

  notify(): void {
    this.#isNotified = true;
    this.#waiting?.abort();
  }

  async wait(sleep: (until: AbortSignal) => Promise<void>): Promise<void> {
    if (!this.#isNotified) {
      this.#waiting = new AbortController();
      await sleep(this.#waiting.signal);
      this.#waiting = null;
    }
    this.#isNotified = false;
  }
}
