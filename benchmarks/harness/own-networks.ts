import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { Pool } from 'undici';
import { createServiceLog } from '../../server/src/api/service-log.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { migrate } from '../../server/src/database/migrate.ts';
import { systemClock } from '../../server/src/kit/clock.ts';
import { openDatabase } from '../../server/src/kit/db.ts';
import { systemRandom } from '../../server/src/kit/random.ts';
import { createCallbackSender } from '../../simulator/callback-sender.ts';
import { simulatorRoutes } from '../../simulator/routes.ts';
import { createSimulator } from '../../simulator/simulator.ts';
import { createNetworkWires } from '../../simulator/wires.ts';
import { processorSeconds } from './process-figures.ts';
import type { Service } from './service.ts';
import type { Workbench } from './workbench.ts';

/** The simulated networks in the process of the benchmark, with a database of their own. */
export interface OwnNetworks {
  /** For the setting INTERNAL_URL of the service: its connectors call it, and its callbacks come from there. */
  url: string;
  /** Serves this service, which has been started with the address. */
  serve(service: Service): Promise<void>;
  /** Processor time of their database's processes so far, in seconds. */
  databaseSeconds(): Promise<number>;
  close(): Promise<void>;
}

// As a test environment of one's own.
const approvalWindowMs = 30 * 60_000;
const pollEveryMs = 500;

export async function startOwnNetworks(bench: Workbench): Promise<OwnNetworks> {
  const adminUrl = await bench.createDatabase();
  await migrate({ adminUrl, clock: systemClock, log: () => {} });
  const db = openDatabase({ url: adminUrl, connectionsMax: 8, clock: systemClock, onConnectionError: () => {} });
  const fastify = Fastify({ forceCloseConnections: true });
  const stopped = new AbortController();
  let onRequest = (_request: IncomingMessage, response: ServerResponse): unknown => response.writeHead(503).end();
  const server = createServer((request, response) => onRequest(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const closing: (() => Promise<unknown>)[] = [];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    serve: async ({ url, networkSecrets: { bearerSecret, callbackSecret } }) => {
      const wires = createNetworkWires({ callbackSecret, publicUrl: () => url });
      const sender = createCallbackSender({ db, clock: systemClock, wires });
      const send = sendOneAtATime(() => sender.sendDueCallbacks());
      const simulator = createSimulator({ db, clock: systemClock, random: systemRandom, wires, notifySender: send });
      await fastify.register(
        simulatorRoutes({
          ...{ db, simulator, clock: systemClock, bearerSecret, publicUrl: () => url, approvalWindowMs },
          log: createServiceLog({ level: 'error' }),
          webhookUrl: () => `${url}/networks/wave-test/callbacks`,
          businessNameOf: async () => 'Kairaba Bookshop',
        }),
      );
      await fastify.ready();
      const callbacks = new Pool(url, { connections: 32 });
      closing.push(() => callbacks.destroy());
      onRequest = (request, response) =>
        request.url?.startsWith('/simulator/') === true
          ? fastify.routing(request, response)
          : forward(callbacks, request, response);
      const polling = pollUntil(stopped.signal, send);
      closing.push(
        () => polling,
        () => sender.close(),
      );
    },
    databaseSeconds: () => secondsOfDatabase(adminUrl),
    close: async () => {
      stopped.abort();
      server.closeAllConnections();
      server.close();
      for (const close of closing) await close();
      await fastify.close();
      await db.close();
    },
  };
}

/** What comes meanwhile is sent by another round. */
function sendOneAtATime(sendDue: () => Promise<number>): () => void {
  let isSending = false;
  let isMoreDue = false;
  const send = async (): Promise<void> => {
    isMoreDue = true;
    if (isSending) return;
    isSending = true;
    while (isMoreDue) {
      isMoreDue = false;
      if ((await sendDue().catch(() => 0)) > 0) isMoreDue = true;
    }
    isSending = false;
  };
  return () => void send();
}

async function pollUntil(stopped: AbortSignal, send: () => void): Promise<void> {
  while (!stopped.aborted) {
    send();
    await systemClock.sleep(pollEveryMs, stopped);
  }
}

/** A connector's callback address is below INTERNAL_URL, so the networks' callbacks arrive here first. */
async function forward(service: Pool, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { host: _host, connection: _connection, ...headers } = request.headers;
  const method = (request.method ?? 'POST') as 'POST' | 'PUT';
  try {
    const options = { path: request.url ?? '/', method, headers, body: Buffer.concat(chunks) };
    const { statusCode, body } = await service.request(options);
    response.writeHead(statusCode).end(await body.text());
  } catch {
    response.writeHead(502).end();
  }
}

async function secondsOfDatabase(adminUrl: string): Promise<number> {
  return withAdminClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ pid: number }>(
      'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
    );
    return rows.reduce((sum, { pid }) => sum + processorSeconds(pid), 0);
  });
}
