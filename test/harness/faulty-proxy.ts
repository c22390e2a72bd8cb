import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from './eventually.ts';
import { listenOnReservedPort } from './reserved-port.ts';

/** What goes wrong on the way to a network; none of it but `refused` says what became of the call. */
export const proxyFaults = [
  'connection refused',
  'reset before the body',
  'reset after the body',
  'no answer in time',
  '502 of a proxy',
  '200 with garbage',
] as const;

export type ProxyFault = (typeof proxyFaults)[number];

/** The line between the service and the simulated networks, which a test can break. What it does not break passes. */
export interface FaultyProxy {
  url: string;
  /** Where the networks really are; known once the service has started. */
  routeTo(url: string): void;
  /** Breaks the next calls about payouts; `arrives`: the network gets them all the same, only nobody hears its answer. */
  breakCalls(fault: ProxyFault, options: { calls: number; arrives: boolean }): Promise<void>;
  /** Lets calls through again. */
  repair(): Promise<void>;
  /** Waits until a broken call has come as far as it gets, and the network has done its part. */
  untilBroken(): Promise<void>;
  /** The bodies of the orders that came as far as the line, oldest first. */
  payoutRequests(): string[];
  /** Gives the network an order that the line had kept to itself. */
  deliverLate(index: number): Promise<number>;
  close(): Promise<void>;
}

interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

interface ProxyState {
  target: string;
  broken: { fault: ProxyFault; calls: number; arrives: boolean } | null;
  brokenCount: number;
  /** Every order that came as far as the line. */
  payoutRequests: Call[];
}

export async function startFaultyProxy(): Promise<FaultyProxy> {
  const state: ProxyState = { target: '', broken: null, brokenCount: 0, payoutRequests: [] };
  const server = createServer((req, res) => void onCall(state, req, res).catch(() => res.destroy()));
  // Whoever calls ends connections that are idle: one that both ends may close would be reset under a request now and then.
  server.keepAliveTimeout = 0;
  const { port, goOffline, goOnline, close } = await listenOnReservedPort(server, () => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}`,
    routeTo: (url) => {
      state.target = url;
    },
    breakCalls: async (fault, { calls, arrives }) => {
      state.brokenCount = 0;
      if (fault === 'connection refused') await goOffline();
      else state.broken = { fault, calls, arrives };
    },
    repair: async () => {
      state.broken = null;
      await goOnline();
    },
    untilBroken: () => eventually('the call was broken', () => state.brokenCount > 0),
    payoutRequests: () => state.payoutRequests.map(({ body }) => body.toString()),
    deliverLate: async (index) => {
      const call = state.payoutRequests[index];
      assert.ok(call, 'the line has seen the order');
      return (await forward(state.target, call)).status;
    },
    close,
  };
}

async function onCall(state: ProxyState, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = req.url ?? '';
  const isPayout = path.includes('/payouts');
  const { broken } = state;
  const isBroken = broken !== null && isPayout && broken.calls > 0;
  if (isBroken) broken.calls -= 1;
  if (isBroken && broken.fault === 'reset before the body' && !broken.arrives) {
    req.socket.resetAndDestroy();
    state.brokenCount += 1;
    return;
  }
  const call = { method: req.method ?? 'GET', path, headers: req.headers, body: await bodyOf(req) };
  if (isPayout && call.method === 'POST') state.payoutRequests.push(call);
  if (!isBroken) {
    const { status, type, body } = await forward(state.target, call);
    res.writeHead(status, { 'content-type': type }).end(body);
    return;
  }
  if (broken.arrives) await forward(state.target, call);
  fail(broken.fault, res);
  state.brokenCount += 1;
}

async function forward(target: string, call: Call): Promise<{ status: number; type: string; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers } = call;
  const sent = request(target + call.path, { method, headers: { ...headers, connection: 'close' } }, resolve);
  sent.on('error', reject);
  sent.end(call.body);
  const response = await promise;
  const body = await bodyOf(response);
  return { status: response.statusCode ?? 0, type: response.headers['content-type'] ?? 'text/plain', body };
}

function fail(fault: ProxyFault, res: ServerResponse): void {
  switch (fault) {
    case 'connection refused':
    case 'no answer in time':
      return;
    case 'reset before the body':
    case 'reset after the body':
      res.socket?.resetAndDestroy();
      return;
    case '502 of a proxy':
      res.writeHead(502, { 'content-type': 'text/html' }).end('<html>bad gateway</html>');
      return;
    case '200 with garbage':
      res.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"1","status":"comple');
  }
}

async function bodyOf(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
