import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { after, describe, it } from 'node:test';
import { Agent, request } from 'undici';
import { systemClock } from './clock.ts';
import { guardedConnector } from './outbound-connector.ts';
import { createOutboundClient } from './outbound-http.ts';
import type { OutboundClientOptions, OutboundResult } from './outbound-http.ts';

const cleanUps: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const cleanUp of cleanUps.toReversed()) await cleanUp();
});

const development = { allowPrivate: true };
const production = { allowPrivate: false };

function client(options: Partial<OutboundClientOptions> = {}) {
  const made = createOutboundClient({ clock: systemClock, policy: development, userAgent: 'test', ...options });
  cleanUps.push(() => made.close());
  const post = (url: string, body = '{"a":1}'): Promise<OutboundResult> =>
    made.post({ url, headers: { 'content-type': 'application/json' }, body: Buffer.from(body), httpsOnly: false });
  return { post };
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function httpServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  cleanUps.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://${await listen(server)}`;
}

/** A server below HTTP, and the sockets that reached it. */
async function tcpServer(onSocket: (socket: Socket) => void): Promise<{ address: string; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    sockets.push(socket);
    onSocket(socket);
  });
  cleanUps.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { address: await listen(server), sockets };
}

/** The smallest certificate that a TLS server starts with, made here so that no private key lies in the repository. */
function selfSignedCertificate(): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const content = Buffer.concat(parts);
    const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 0xff];
    return Buffer.concat([Buffer.from([tag, ...length]), content]);
  };
  const integer = (value: number): Buffer => der(0x02, Buffer.from([value]));
  const time = (text: string): Buffer => der(0x18, Buffer.from(text));
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const commonName = der(0x06, Buffer.from('550403', 'hex'));
  const name = der(0x30, der(0x31, der(0x30, commonName, der(0x0c, Buffer.from('127.0.0.1')))));
  const validity = der(0x30, time('20200101000000Z'), time('20991231235959Z'));
  const publicPart = publicKey.export({ type: 'spki', format: 'der' });
  const toSign = der(0x30, der(0xa0, integer(2)), integer(1), ecdsaWithSha256, name, validity, name, publicPart);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', toSign, privateKey));
  const certificate = der(0x30, toSign, ecdsaWithSha256, signature);
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`,
  };
}

async function answered(result: Promise<OutboundResult>): Promise<OutboundResult & { kind: 'answered' }> {
  const settled = await result;
  assert.equal(settled.kind, 'answered', JSON.stringify(settled));
  return settled;
}

async function failure(result: Promise<OutboundResult>): Promise<string> {
  const settled = await result;
  return settled.kind === 'failed' ? settled.failure : `answered ${settled.status}`;
}

describe('an outbound request', () => {
  it('sends the bytes as they are and returns status and excerpt', async () => {
    const seen: { request: IncomingMessage; body: string }[] = [];
    const url = await httpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        seen.push({ request, body: Buffer.concat(chunks).toString() });
        response.writeHead(202).end('thanks');
      });
    });
    const result = await answered(client().post(`${url}/hook?a=b#fragment`, '{"name":"Ŋ 🙂"}'));
    assert.deepEqual(
      { ...result, durationMs: 0 },
      {
        kind: 'answered',
        status: 202,
        retryAfterMs: null,
        excerpt: 'thanks',
        durationMs: 0,
      },
    );
    assert.equal(seen[0]?.body, '{"name":"Ŋ 🙂"}');
    assert.equal(seen[0]?.request.url, '/hook?a=b');
    assert.equal(seen[0]?.request.method, 'POST');
    assert.equal(seen[0]?.request.headers['content-length'], String(Buffer.byteLength('{"name":"Ŋ 🙂"}')));
    assert.equal(seen[0]?.request.headers['content-type'], 'application/json');
  });

  it('keeps a connection for the next request', async () => {
    const ports: (number | undefined)[] = [];
    const url = await httpServer((request, response) => {
      ports.push(request.socket.remotePort);
      response.end();
    });
    const { post } = client();
    await post(url);
    // The connection is free once the end of the answer has been worked off.
    await new Promise(setImmediate);
    await post(url);
    assert.equal(ports[0], ports[1]);
  });

  it('closes connections after use while too many are open', async () => {
    const connections: (string | undefined)[] = [];
    const url = await httpServer((request, response) => {
      connections.push(request.headers.connection);
      response.end();
    });
    await client({ connectionsKeptMax: 0 }).post(url);
    assert.deepEqual(connections, ['close']);
  });

  it('does not follow redirects', async () => {
    let requests = 0;
    const url = await httpServer((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    assert.equal((await answered(client().post(url))).status, 302);
    assert.equal(requests, 1);
  });

  it('reads at most 64 KB of an answer, then drops the connection, and keeps 1 KB', async () => {
    const closed: Promise<unknown>[] = [];
    let bytesTaken = 0;
    const url = await httpServer((_request, response) => {
      closed.push(once(response, 'close'));
      // Without an end: whoever wanted it all would wait for ever.
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024, 'x'))) bytesTaken += 16 * 1024;
        response.once('drain', write);
      };
      write();
    });
    const result = await answered(client().post(url));
    assert.equal(result.status, 200);
    assert.equal(result.excerpt, 'x'.repeat(1_024));
    await closed[0];
    // What the kernel's buffers took before they were full is not what we read.
    assert.ok(bytesTaken < 64 * 1024 * 1024);
  });

  it('makes the excerpt harmless: no control, turning or broken characters, nothing of encoded answers', async () => {
    const bodies: [Buffer, Record<string, string>, string][] = [
      [Buffer.from('a\u0000b\u001b[31mc\r\n\td\u202Ee\u200bf\u007f'), {}, 'ab[31mc\n\tdef'],
      [Buffer.from([0x61, 0xff, 0xfe, 0x62]), {}, 'a��b'],
      [Buffer.from('compressed'), { 'content-encoding': 'gzip' }, ''],
    ];
    for (const [body, headers, expected] of bodies) {
      const url = await httpServer((_request, response) => response.writeHead(200, headers).end(body));
      assert.equal((await answered(client().post(url))).excerpt, expected);
    }
  });

  it('understands Retry-After as seconds and as a date, and nothing else', async () => {
    const now = new Date('2026-03-01T12:00:00.000Z');
    const clock = { ...systemClock, now: () => now };
    const cases: [string, number | null][] = [
      ['120', 120_000],
      ['0', 0],
      ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
      ['Sun, 01 Mar 2026 11:00:00 GMT', 0],
      ['Sun, 99 Mar 2026 11:00:00 GMT', null],
      ['-5', null],
      ['1.5', null],
      ['99999999999999999999', null],
      ['tomorrow', null],
      ['2026-03-01T13:00:00Z', null],
    ];
    for (const [header, expected] of cases) {
      const url = await httpServer((_request, response) => response.writeHead(503, { 'retry-after': header }).end());
      assert.equal((await answered(client({ clock }).post(url))).retryAfterMs, expected, header);
    }
  });
});

describe('an outbound request that goes wrong', () => {
  const limits = { totalTimeoutMs: 150 };

  it('ends in time when the headers, the body or the end of the body never come', async () => {
    const silent = await tcpServer(() => {});
    const hangs: ((response: ServerResponse) => void)[] = [
      () => {},
      (response) => response.writeHead(200).flushHeaders(),
      (response) => response.writeHead(200).write('some'),
      (response) => response.writeHead(200, { 'content-length': '10' }).write('some'),
    ];
    assert.equal(await failure(client(limits).post(`http://${silent.address}/`)), 'timeout');
    for (const hang of hangs) {
      const url = await httpServer((_request, response) => hang(response));
      assert.equal(await failure(client(limits).post(url)), 'timeout');
    }
  });

  it('ends in time when the answer drips', async () => {
    const url = await httpServer((_request, response) => {
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    assert.equal(await failure(client(limits).post(url)), 'timeout');
  });

  it('ends after the connect limit when TLS is never spoken', async () => {
    const silent = await tcpServer(() => {});
    const result = failure(client({ connectTimeoutMs: 100 }).post(`https://${silent.address}/`));
    assert.equal(await result, 'connect_timeout');
  });

  it('ends after the connect limit when the name server is silent', async () => {
    const options = { connectTimeoutMs: 100, resolveName: () => new Promise<string[]>(() => {}) };
    assert.equal(await failure(client(options).post('http://shop.example/')), 'connect_timeout');
  });

  it('does not trust a certificate that nobody vouches for', async () => {
    const server = createTlsServer(selfSignedCertificate(), () => assert.fail('nothing may be sent'));
    server.on('tlsClientError', () => {});
    cleanUps.push(() => new Promise((resolve) => server.close(resolve)));
    assert.equal(await failure(client().post(`https://${await listen(server)}/`)), 'tls');
  });

  it('says what went wrong in a word', async () => {
    const reset = await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const closing = await tcpServer((socket) => socket.once('data', () => socket.end()));
    const babbling = await tcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n')));
    const cutHeaders = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort';
    const cut = await tcpServer((socket) => socket.once('data', () => socket.end(cutHeaders)));
    const plain = await httpServer((_request, response) => response.end());
    const server = createTcpServer();
    const freed = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    const nowhere = () => Promise.reject(Object.assign(new Error('nowhere'), { code: 'ENOTFOUND' }));

    assert.equal(await failure(client().post(`http://${reset.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${closing.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${cut.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${babbling.address}/`)), 'malformed_answer');
    assert.equal(await failure(client().post(plain.replace('http:', 'https:'))), 'tls');
    assert.equal(await failure(client().post(`http://${freed}/`)), 'refused');
    assert.equal(await failure(client({ resolveName: nowhere }).post('http://shop.example/')), 'dns');
    assert.equal(await failure(client({ resolveName: async () => [] }).post('http://shop.example/')), 'dns');
  });
});

describe('an outbound request to a forbidden address', () => {
  it('never connects to a literal one in any spelling, even without the check of the URL', async () => {
    const { address, sockets } = await tcpServer(() => {});
    const port = address.split(':')[1];
    const connect = guardedConnector({ policy: production, connectTimeoutMs: 1_000, sockets: new Set() });
    const agent = new Agent({ connect });
    cleanUps.push(() => agent.destroy());
    const hosts = ['127.0.0.1', '127.1', '0x7f.1', '2130706433', '017700000001', '[::ffff:7f00:1]', '１２７.０.０.１'];
    for (const host of hosts) {
      const url = `http://${host}:${port}/`;
      await assert.rejects(request(url, { dispatcher: agent }), { name: 'UrlNotAllowedError' }, host);
      assert.equal(await failure(client({ policy: production }).post(url)), 'blocked', host);
    }
    assert.equal(sockets.length, 0);
  });

  it('never connects when a name resolves to it, alone or among public ones', async () => {
    // The port is one that the guard lets through, so that only the address can be the reason.
    const answers = [['127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['2606:4700::1111', '::1'], ['::ffff:127.0.0.1']];
    for (const addresses of answers) {
      const guarded = client({ policy: production, resolveName: async () => addresses });
      assert.equal(await failure(guarded.post('http://shop.example:8080/')), 'blocked', addresses.join(' '));
    }
  });

  it('judges each connection: a name that was allowed once is not allowed for ever', async () => {
    const { address, sockets } = await tcpServer((socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')),
    );
    const port = address.split(':')[1];
    const answers = ['127.0.0.1', '169.254.169.254', '127.0.0.2'];
    const policy = { allowPrivate: true, refusedAddresses: ['127.0.0.2'] };
    const rebound = client({ policy, resolveName: async () => [answers.shift() ?? ''] });
    assert.equal((await answered(rebound.post(`http://shop.example:${port}/`))).status, 200);
    assert.equal(await failure(rebound.post(`http://shop.example:${port}/`)), 'blocked');
    assert.equal(await failure(rebound.post(`http://shop.example:${port}/`)), 'blocked');
    assert.equal(sockets.length, 1);
  });

  it('calls no other scheme, no forbidden port, no URL with credentials, however it was stored', async () => {
    const urls = ['shop://done', 'javascript:alert(1)', '', 'http://a:b@shop.example/', 'http://shop.example:5432/'];
    const options = { policy: production, resolveName: async () => assert.fail('no name may be looked up') };
    for (const url of urls) assert.equal(await failure(client(options).post(url)), 'blocked', url);
  });
});
