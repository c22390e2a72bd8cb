import { createHmac, hash } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { mock } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { listenOnReservedPort } from './reserved-port.ts';

/** One request to a merchant's server. */
export interface Attempt {
  /** In the order of arrival, from 1. */
  number: number;
  webhookId: string;
  /** From the body. */
  eventId: string;
  /** The event's object. */
  objectId: string;
  bodyHash: string;
  /** From `webhook-timestamp`. */
  sentAtMs: number;
  /** The names of the known secrets that verify the signature. */
  standard: string[];
  service: string[];
  status: number;
}

/** A merchant's server that verifies every request with each of its secrets, and responds as the test sets it. */
export interface VerifyingReceiver {
  url: string;
  attempts: Attempt[];
  /** The objects with a received event. */
  receivedObjects: Set<string>;
  /** The secrets by the test's name for them. */
  secrets: Map<string, string>;
  respondWith(respond: (attempt: Attempt) => number): void;
  /** The number of open connections. Once those of a dead process are closed, everything it sent has been handled. */
  readonly connections: number;
  /** Refuses connections until `goOnline`. */
  goOffline(): Promise<void>;
  goOnline(): Promise<void>;
  close(): Promise<void>;
}

export async function startVerifyingReceiver(): Promise<VerifyingReceiver> {
  const attempts: Attempt[] = [];
  const receivedObjects = new Set<string>();
  const secrets = new Map<string, string>();
  let respond: (attempt: Attempt) => number = () => 204;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const attempt = verifyAttempt(request.headers, Buffer.concat(chunks), { secrets, number: attempts.length + 1 });
      attempt.status = respond(attempt);
      attempts.push(attempt);
      receivedObjects.add(attempt.objectId);
      response.writeHead(attempt.status).end();
    });
  });
  let connections = 0;
  server.on('connection', (socket) => {
    connections += 1;
    socket.once('close', () => {
      connections -= 1;
    });
  });
  // The client closes idle connections. If the server did too, it would now and then reset one under a request.
  server.keepAliveTimeout = 0;
  const { port, goOffline, goOnline, close } = await listenOnReservedPort(server, () => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}/events`,
    attempts,
    receivedObjects,
    secrets,
    respondWith: (handler) => {
      respond = handler;
    },
    get connections() {
      return connections;
    },
    goOffline,
    goOnline,
    close,
  };
}

function verifyAttempt(
  headers: IncomingHttpHeaders,
  body: Buffer,
  { secrets, number }: { secrets: ReadonlyMap<string, string>; number: number },
): Attempt {
  const header = (name: string): string => String(headers[name]);
  const text = body.toString();
  const sentAtMs = Number(header('webhook-timestamp')) * 1_000;
  const verified = (verifies: (secret: string) => boolean): string[] =>
    [...secrets].filter(([, secret]) => verifies(secret)).map(([name]) => name);
  const event = JSON.parse(text) as { id: string; data: { id: string } };
  return {
    number,
    webhookId: header('webhook-id'),
    eventId: event.id,
    objectId: event.data.id,
    bodyHash: hash('sha256', body),
    sentAtMs,
    standard: verified((secret) => verifiesStandard(secret, text, headers)),
    service: verified((secret) => serviceSignature(secret, body) === header('x-service-signature')),
    status: 0,
  };
}

/** By the Standard Webhooks library, which compares the timestamp with the machine's clock, so the clock is mocked. */
function verifiesStandard(secret: string, body: string, headers: IncomingHttpHeaders): boolean {
  mock.timers.enable({ apis: ['Date'], now: Number(headers['webhook-timestamp']) * 1_000 });
  try {
    new Webhook(secret.slice('wh_'.length)).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  } finally {
    mock.timers.reset();
  }
}

function serviceSignature(secret: string, body: Buffer): string {
  return createHmac('sha512', secret).update(body).digest('hex');
}
