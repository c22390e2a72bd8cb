import assert from 'node:assert/strict';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { eventually } from './eventually.ts';
import { listenOnReservedPort } from './reserved-port.ts';

/** Faults on the way to a network. All but a refused connection leave the outcome of the call unknown. */
export const proxyFaults = [
  'connection refused',
  'reset before the body',
  'reset after the body',
  'no response in time',
  '502 of a proxy',
  '200 with garbage',
] as const;

export type ProxyFault = (typeof proxyFaults)[number];

/** A proxy between the service and the simulated networks. It forwards every call that a test does not break. */
export interface FaultyProxy {
  url: string;
  /** The networks' own address, known once the service has started. */
  routeTo(url: string): void;
  /**
   * Breaks the next payout calls, with `sendsOnly` no look-ups; with `arrives` the network receives them and its response is
   * lost.
   */
  breakCalls(fault: ProxyFault, options: { calls: number; arrives: boolean; sendsOnly?: boolean }): Promise<void>;
  /** Forwards calls again. */
  repair(): Promise<void>;
  /** Waits until a call was broken, and the network has handled it if it arrives. */
  untilBroken(): Promise<void>;
  /** The bodies of the payout requests that reached the proxy, oldest first. */
  payoutRequests(): string[];
  /** Forwards a payout request that the proxy had held back, and returns the status. */
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
  broken: { fault: ProxyFault; calls: number; arrives: boolean; sendsOnly: boolean } | null;
  brokenCount: number;
  /** Every payout request that reached the proxy. */
  payoutRequests: Call[];
}

export async function startFaultyProxy(): Promise<FaultyProxy> {
  const state: ProxyState = { target: '', broken: null, brokenCount: 0, payoutRequests: [] };
  const server = createServer((req, res) => void onCall(state, req, res).catch(() => res.destroy()));
  // The client closes idle connections. If the server did too, it would now and then reset one under a request.
  server.keepAliveTimeout = 0;
  const { port, goOffline, goOnline, close } = await listenOnReservedPort(server, () => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}`,
    routeTo: (url) => {
      state.target = url;
    },
    breakCalls: async (fault, { calls, arrives, sendsOnly = false }) => {
      state.brokenCount = 0;
      if (fault === 'connection refused') await goOffline();
      else state.broken = { fault, calls, arrives, sendsOnly };
    },
    repair: async () => {
      state.broken = null;
      await goOnline();
    },
    untilBroken: () => eventually('the call was broken', () => state.brokenCount > 0),
    payoutRequests: () => state.payoutRequests.map(({ body }) => body.toString()),
    deliverLate: async (index) => {
      const call = state.payoutRequests[index];
      assert.ok(call, 'the proxy has the request');
      return (await forward(state.target, call)).status;
    },
    close,
  };
}

async function onCall(state: ProxyState, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = req.url ?? '';
  // At a provider of the GSMA API only the path of a collection says what it is about.
  const isPayout = /\/payouts|\/gsma\//.test(path) && !path.includes('/merchantpay');
  const { broken } = state;
  const isMeant = isPayout && (req.method === 'POST' || !broken?.sendsOnly);
  const isBroken = broken !== null && isMeant && broken.calls > 0;
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
    case 'no response in time':
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
