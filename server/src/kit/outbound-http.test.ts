import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { after, describe, it } from 'node:test';
import { systemClock } from './clock.ts';
import { createOutboundWorld, failure, responseOf } from './outbound-world.corpus.ts';

const { client, httpServer, tcpServer, close } = createOutboundWorld();
after(close);

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
    const result = await responseOf(client().post(`${url}/hook?a=b#fragment`, '{"name":"Ŋ 🙂"}'));
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
    const names = Object.keys(seen[0]?.request.headers ?? {}).toSorted();
    assert.deepEqual(names, ['connection', 'content-length', 'content-type', 'host', 'user-agent'], 'no credentials');
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
    await client({ idleConnectionsMax: 0 }).post(url);
    assert.deepEqual(connections, ['close']);
  });

  it('follows no redirect of any kind', async () => {
    const paths: (string | undefined)[] = [];
    const url = await httpServer((request, response) => {
      paths.push(request.url);
      response
        .writeHead(Number(request.url?.slice(1)), { location: `${url}/elsewhere`, refresh: '0; url=/else' })
        .end();
    });
    const statuses = [300, 301, 302, 303, 304, 305, 306, 307, 308];
    for (const status of statuses) assert.equal((await responseOf(client().post(`${url}/${status}`))).status, status);
    assert.deepEqual(
      paths,
      statuses.map((status) => `/${status}`),
    );
  });

  it('reads at most 64 KB of a response, then closes the connection, and returns 1 KB', async () => {
    const closed: Promise<unknown>[] = [];
    let bytesReceived = 0;
    const url = await httpServer((_request, response) => {
      closed.push(once(response, 'close'));
      // Without an end: whoever wanted it all would wait for ever.
      const write = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(16 * 1024, 'x'))) bytesReceived += 16 * 1024;
        response.once('drain', write);
      };
      write();
    });
    const result = await responseOf(client().post(url));
    assert.equal(result.status, 200);
    assert.equal(result.excerpt, 'x'.repeat(1_024));
    await closed[0];
    // What the kernel's buffers took before they were full is not what we read.
    assert.ok(bytesReceived < 64 * 1024 * 1024);
  });

  it('sanitizes the excerpt: no control, bidi or broken characters, nothing of encoded bodies', async () => {
    const bodies: [Buffer, Record<string, string>, string][] = [
      [Buffer.from('a\u0000b\u001b[31mc\r\n\td\u202Ee\u200bf\u007f'), {}, 'ab[31mc\n\tdef'],
      [Buffer.from([0x61, 0xff, 0xfe, 0x62]), {}, 'a��b'],
      [Buffer.from('compressed'), { 'content-encoding': 'gzip' }, ''],
    ];
    for (const [body, headers, expected] of bodies) {
      const url = await httpServer((_request, response) => response.writeHead(200, headers).end(body));
      assert.equal((await responseOf(client().post(url))).excerpt, expected);
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
      assert.equal((await responseOf(client({ clock }).post(url))).retryAfterMs, expected, header);
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

  it('ends in time when the response drips', async () => {
    const url = await httpServer((_request, response) => {
      const timer = setInterval(() => response.write('.'), 10);
      response.on('close', () => clearInterval(timer));
    });
    assert.equal(await failure(client(limits).post(url)), 'timeout');
  });

  it('ends in time while it waits for a connection, and is not sent once there is one', async () => {
    const paths: (string | undefined)[] = [];
    const url = await httpServer((request, response) => {
      paths.push(request.url);
      response.end();
    });
    const { promise: addresses, resolve } = Promise.withResolvers<string[]>();
    const { post } = client({ ...limits, resolveName: () => addresses });
    const named = url.replace('127.0.0.1', 'shop.example');
    assert.equal(await failure(post(`${named}/late`)), 'timeout');
    const next = post(`${named}/next`);
    resolve(['127.0.0.1']);
    await next;
    assert.ok(!paths.includes('/late'), paths.join());
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

  it('reports what went wrong as a word', async () => {
    const reset = await tcpServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    const closing = await tcpServer((socket) => socket.once('data', () => socket.end()));
    const babbling = await tcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0-OpenSSH_9.2\r\n\r\n')));
    const cutHeaders = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort';
    const cut = await tcpServer((socket) => socket.once('data', () => socket.end(cutHeaders)));
    const plain = await httpServer((_request, response) => response.end());
    const nowhere = () => Promise.reject(Object.assign(new Error('nowhere'), { code: 'ENOTFOUND' }));

    assert.equal(await failure(client().post(`http://${reset.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${closing.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${cut.address}/`)), 'reset');
    assert.equal(await failure(client().post(`http://${babbling.address}/`)), 'malformed_answer');
    assert.equal(await failure(client().post(plain.replace('http:', 'https:'))), 'tls');
    // Nothing listens on port 1.
    assert.equal(await failure(client().post('http://127.0.0.1:1/')), 'refused');
    assert.equal(await failure(client({ resolveName: nowhere }).post('http://shop.example/')), 'dns');
    assert.equal(await failure(client({ resolveName: async () => [] }).post('http://shop.example/')), 'dns');
  });
});
