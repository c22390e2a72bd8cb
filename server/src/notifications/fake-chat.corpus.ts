import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatCall {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

/** The service's response; null leaves the call without one. */
export type ChatResponse = { status: number; body: unknown; headers?: Record<string, string> } | null;

/** A chat service on loopback that records its calls and sends scripted responses. */
export async function startFakeChat() {
  const calls: ChatCall[] = [];
  const next: ChatResponse[] = [];
  const chat = {
    calls,
    /** The response when `next` is empty. */
    usually: (call: ChatCall): ChatResponse => acceptedBy(call, calls.length),
    /** The next responses, in order. */
    next,
    url: '',
    /** May be called more than once. */
    close: async (): Promise<void> => {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>;
      const call = { path: request.url ?? '', headers: request.headers, body };
      calls.push(call);
      const scripted = next.shift();
      const reply = scripted === undefined ? chat.usually(call) : scripted;
      if (reply === null) return;
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
      response.end(JSON.stringify(reply.body));
    });
  });
  // Only the client closes idle connections; if both sides did, a request could meet a reset now and then.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  chat.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return chat;
}

function acceptedBy({ path, body }: ChatCall, count: number): ChatResponse {
  if (path.startsWith('/bot')) {
    // Telegram repeats the message, which makes its responses long.
    const result = { message_id: count, text: `${String(body['text'])}${' '.repeat(3_000)}` };
    return { status: 200, body: { ok: true, result } };
  }
  const to = String(body['to']);
  return {
    status: 200,
    body: {
      messaging_product: 'whatsapp',
      contacts: [{ input: to, wa_id: to }],
      messages: [{ id: `wamid.${count}` }],
    },
  };
}

export function whatsappError(code: number, status = 400, headers: Record<string, string> = {}): ChatResponse {
  return { status, headers, body: { error: { message: 'no', type: 'OAuthException', code, fbtrace_id: 'x' } } };
}

export function telegramError(
  code: number,
  description: string,
  parameters: Record<string, unknown> = {},
): ChatResponse {
  return { status: code, body: { ok: false, error_code: code, description, parameters } };
}
