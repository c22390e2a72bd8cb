import assert from 'node:assert/strict';
import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { eventually } from './eventually.ts';
import { listenOnKeptPort } from './kept-port.ts';

/** What goes wrong on the way to a network; none of it but `refused` says what became of the call. */
export const lineFaults = [
  'connection refused',
  'reset before the body',
  'reset after the body',
  'no answer in time',
  '502 of a proxy',
  '200 with garbage',
] as const;

export type LineFault = (typeof lineFaults)[number];

/** The line between the service and the simulated networks, which a test can break. What it does not break passes. */
export interface FaultyLine {
  url: string;
  /** Where the networks really are; known once the service has started. */
  leadTo(url: string): void;
  /** Breaks the next calls about payouts; `arrives`: the network gets them all the same, only nobody hears its answer. */
  breakCalls(fault: LineFault, options: { calls: number; arrives: boolean }): Promise<void>;
  /** Lets calls through again. */
  mend(): Promise<void>;
  /** Waits until a broken call has come as far as it gets, and the network has done its part. */
  untilBroken(): Promise<void>;
  /** The bodies of the orders that came as far as the line, oldest first. */
  orders(): string[];
  /** Gives the network an order that the line had kept to itself. */
  deliverLate(place: number): Promise<number>;
  close(): Promise<void>;
}

interface Call {
  method: string;
  path: string;
  headers: IncomingMessage['headers'];
  body: Buffer;
}

interface LineState {
  target: string;
  broken: { fault: LineFault; calls: number; arrives: boolean } | null;
  brokenSoFar: number;
  /** Every order that came as far as the line. */
  orders: Call[];
}

export async function startFaultyLine(): Promise<FaultyLine> {
  const state: LineState = { target: '', broken: null, brokenSoFar: 0, orders: [] };
  const server = createServer((req, res) => void onCall(state, req, res).catch(() => res.destroy()));
  // Whoever calls ends connections that are idle: one that both ends may close would be reset under a request now and then.
  server.keepAliveTimeout = 0;
  const { port, leave, comeBack, close } = await listenOnKeptPort(server, () => server.closeAllConnections());
  return {
    url: `http://127.0.0.1:${port}`,
    leadTo: (url) => {
      state.target = url;
    },
    breakCalls: async (fault, { calls, arrives }) => {
      state.brokenSoFar = 0;
      if (fault === 'connection refused') await leave();
      else state.broken = { fault, calls, arrives };
    },
    mend: async () => {
      state.broken = null;
      await comeBack();
    },
    untilBroken: () => eventually('the call was broken', () => state.brokenSoFar > 0),
    orders: () => state.orders.map(({ body }) => body.toString()),
    deliverLate: async (place) => {
      const call = state.orders[place];
      assert.ok(call, 'the line has seen the order');
      return (await forward(state.target, call)).status;
    },
    close,
  };
}

async function onCall(state: LineState, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const path = req.url ?? '';
  const isPayout = path.includes('/payouts');
  const { broken } = state;
  const isBroken = broken !== null && isPayout && broken.calls > 0;
  if (isBroken) broken.calls -= 1;
  if (isBroken && broken.fault === 'reset before the body' && !broken.arrives) {
    req.socket.resetAndDestroy();
    state.brokenSoFar += 1;
    return;
  }
  const call = { method: req.method ?? 'GET', path, headers: req.headers, body: await bodyOf(req) };
  if (isPayout && call.method === 'POST') state.orders.push(call);
  if (!isBroken) {
    const { status, type, body } = await forward(state.target, call);
    res.writeHead(status, { 'content-type': type }).end(body);
    return;
  }
  if (broken.arrives) await forward(state.target, call);
  fail(broken.fault, res);
  state.brokenSoFar += 1;
}

async function forward(target: string, call: Call): Promise<{ status: number; type: string; body: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const { method, headers } = call;
  const sent = request(target + call.path, { method, headers: { ...headers, connection: 'close' } }, resolve);
  sent.on('error', reject);
  sent.end(call.body);
  const answer = await promise;
  const body = await bodyOf(answer);
  return { status: answer.statusCode ?? 0, type: answer.headers['content-type'] ?? 'text/plain', body };
}

function fail(fault: LineFault, res: ServerResponse): void {
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
