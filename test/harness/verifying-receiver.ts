import { createHmac, hash } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { mock } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { listenOnReservedPort } from './reserved-port.ts';

/** One request to a merchant's server. */
export interface Attempt {
  /** In which order they came, from 1. */
  number: number;
  webhookId: string;
  /** As the body says it. */
  eventId: string;
  /** What the event tells of. */
  objectId: string;
  bodyHash: string;
  /** Of the attempt, in milliseconds, from `webhook-timestamp`. */
  sentAtMs: number;
  /** By the names of the secrets that the receiver had been told of by then. */
  standard: string[];
  service: string[];
  status: number;
}

/** A merchant's server that looks at every request with each of its secrets, and answers as it is told. */
export interface VerifyingReceiver {
  url: string;
  attempts: Attempt[];
  /** The objects of which an event has come. */
  receivedObjects: Set<string>;
  /** The secrets by a name of the test's own. */
  secrets: Map<string, string>;
  respondWith(respond: (attempt: Attempt) => number): void;
  /** How many connections are open. Once those of a dead process are closed, all that it sent has been looked at. */
  readonly connections: number;
  /** Nobody listens at its address until it comes back. */
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
  // Whoever calls ends connections that are idle: one that both ends may close would be reset under a request now and then.
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

/** By the library of Standard Webhooks. It compares the time with the machine's, which is not the story's. */
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
