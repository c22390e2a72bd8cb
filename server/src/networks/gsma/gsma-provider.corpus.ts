import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Transaction {
  id: string;
  state: string;
  correlationId: string;
  callbackUrl: string;
  apiKey: string;
  type: string;
  body: Record<string, unknown>;
  status: 'pending' | 'completed';
}

/** A provider of the GSMA API on a real HTTP server: it takes what a known key sends, and waits until a test pays it. */
export class GsmaProvider {
  /** Keys that it accepts. */
  readonly keys = new Set<string>();
  readonly transactions: Transaction[] = [];
  /** How many calls had each key. */
  readonly calls = new Map<string, number>();
  readonly #server = createServer((req, res) => void this.#respond(req, res));

  /** Returns the base URL. */
  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The payer approves: the transaction is completed, and the provider calls back. Returns the callback's status. */
  async complete(transaction: Transaction): Promise<number> {
    transaction.status = 'completed';
    const body = JSON.stringify(requestState(transaction));
    const headers = { 'content-type': 'application/json' };
    return (await fetch(transaction.callbackUrl, { method: 'PUT', headers, body })).status;
  }

  async #respond(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of req) chunks.push(chunk as Buffer);
    const [status, body] = this.#responseTo(req, Buffer.concat(chunks).toString());
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  #responseTo(req: IncomingMessage, body: string): [number, unknown] {
    const path = req.url ?? '';
    const apiKey = String(req.headers['x-api-key']);
    this.calls.set(apiKey, (this.calls.get(apiKey) ?? 0) + 1);
    if (path === '/heartbeat') return [200, { serviceStatus: 'available' }];
    if (!this.keys.has(apiKey)) return [401, { errorCategory: 'authorisation', errorCode: 'authorisationError' }];
    const [, type] = /^\/transactions\/type\/(\w+)$/.exec(path) ?? [];
    if (req.method === 'POST' && type !== undefined) return this.#take(req, { apiKey, type, body });
    const [id] = path.split('/').toReversed();
    const found = this.transactions.find((each) => [each.id, each.state, each.correlationId].includes(id ?? ''));
    if (!found) return [404, { errorCategory: 'identification', errorCode: 'identifierError' }];
    if (path.startsWith('/responses/')) return [200, { link: `/transactions/${found.id}` }];
    return [200, path.startsWith('/requeststates/') ? requestState(found) : transactionOf(found)];
  }

  #take(
    { headers }: IncomingMessage,
    { apiKey, type, body }: { apiKey: string; type: string; body: string },
  ): [number, unknown] {
    const correlationId = String(headers['x-correlationid']);
    if (this.transactions.some((each) => each.correlationId === correlationId)) {
      return [400, { errorCategory: 'businessRule', errorCode: 'duplicateRequest' }];
    }
    const transaction: Transaction = {
      ...{ id: `T${randomUUID()}`, state: `S${randomUUID()}`, correlationId, apiKey, type, status: 'pending' },
      callbackUrl: String(headers['x-callback-url']),
      body: JSON.parse(body) as Record<string, unknown>,
    };
    this.transactions.push(transaction);
    return [202, requestState(transaction)];
  }
}

function requestState({ state, status, id }: Transaction) {
  return { serverCorrelationId: state, status, notificationMethod: 'callback', objectReference: id, pollLimit: 100 };
}

function transactionOf({ id, status, type, body }: Transaction) {
  return { ...body, transactionReference: id, transactionStatus: status, type };
}
