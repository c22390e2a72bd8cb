import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { setDefaultCACertificates } from 'node:tls';
import { after, describe, it } from 'node:test';
import { certificateFor, certificateAuthority } from './certificates.corpus.ts';
import { createOutboundWorld, failure, responseOf, saying } from './outbound-world.corpus.ts';

const { client, tcpServer, tlsServer, close } = createOutboundWorld();
after(close);

/** Begins an answer and then repeats the rest for as long as somebody reads. */
function flooding(beginning: string, repeated: string): (socket: Socket) => void {
  const chunk = Buffer.from(repeated.repeat(Math.ceil(60_000 / repeated.length)));
  return (socket) => {
    const write = (): void => {
      while (!socket.destroyed && socket.write(chunk));
      socket.once('drain', write);
    };
    socket.once('data', () => {
      socket.write(beginning);
      write();
    });
  };
}

const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';
const floods: [string, (socket: Socket) => void][] = [
  ['empty lines', flooding('', '\r\n')],
  ['a reason', flooding('HTTP/1.1 200 ', 'a')],
  ['early hints', flooding('', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
  ['headers', flooding('HTTP/1.1 200 OK\r\n', `x-a: ${'b'.repeat(1_000)}\r\n`)],
  ['small headers', flooding('HTTP/1.1 200 OK\r\n', 'a:b\r\n')],
  ['one header', flooding('HTTP/1.1 200 OK\r\nx-a: ', 'a')],
  ['a header’s white space', flooding('HTTP/1.1 200 OK\r\nx-a:', ' ')],
  ['noughts of a chunk’s size', flooding(chunked, '0')],
  ['a chunk’s extension', flooding(`${chunked}1;`, 'a')],
  ['extensions of small chunks', flooding(chunked, `1;${'a'.repeat(1_000)}\r\nx\r\n`)],
  ['trailers', flooding(`${chunked}0\r\n`, `x-a: ${'b'.repeat(1_000)}\r\n`)],
];

describe('a response that never ends', () => {
  for (const [what, flood] of floods) {
    it(`is abandoned long before the time limit: ${what}`, async () => {
      const { address, sockets } = await tcpServer(flood);
      assert.equal(await failure(client().post(`http://${address}/`)), 'malformed_answer');
      const [socket] = sockets;
      if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
      assert.equal(sockets.length, 1);
    });
  }

  it('is abandoned over TLS too', async () => {
    const authority = certificateAuthority('of floods');
    const certificate = certificateFor({ hosts: ['127.0.0.1'] }, authority);
    setDefaultCACertificates([authority.cert]);
    const { address } = await tlsServer(certificate, flooding(`${chunked}1;`, 'a'));
    assert.equal(await failure(client().post(`https://${address}/`)), 'malformed_answer');
  });

  it('keeps no connection open beyond our limit, whatever it asks for', async () => {
    const { address, sockets } = await tcpServer(saying('HTTP/1.1 204 No Content\r\nkeep-alive: timeout=600\r\n\r\n'));
    await responseOf(client({ keepAliveMs: 50 }).post(`http://${address}/`));
    const [socket] = sockets;
    if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  });

  it('is measured separately: any number of responses fit one connection', async () => {
    const body = 'x'.repeat(60_000);
    const { address, sockets } = await tcpServer(
      saying(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`),
    );
    const { post } = client();
    for (let index = 0; index < 30; index += 1) {
      await responseOf(post(`http://${address}/`));
      // The connection is free once the end of the answer has been worked off.
      await new Promise(setImmediate);
    }
    assert.equal(sockets.length, 1);
  });
});

describe('a response that smuggles', () => {
  it('is not read as the next response: bytes after a response end the connection', async () => {
    const second = 'HTTP/1.1 418 Smuggled\r\ncontent-length: 8\r\n\r\nsmuggled';
    const firsts = [
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
      'HTTP/1.1 204 No Content\r\ncontent-length: 8\r\n\r\n',
    ];
    for (const first of firsts) {
      const { address, sockets } = await tcpServer(saying(first + second));
      const { post } = client();
      for (let index = 0; index < 3; index += 1) {
        const { status, excerpt } = await responseOf(post(`http://${address}/`));
        assert.ok(status !== 418 && !excerpt.includes('smuggled'), `${status} ${excerpt}`);
        await new Promise(setImmediate);
      }
      assert.equal(sockets.length, 3, 'none is used twice');
    }
  });

  it('is refused where its length is ambiguous', async () => {
    const heads = [
      'content-length: 2\r\ntransfer-encoding: chunked',
      'transfer-encoding: chunked\r\ncontent-length: 2',
      'content-length: 2\r\ncontent-length: 3',
      'content-length: -1',
      'content-length: 0x2',
      'x-a: b\r\n folded: c\0',
      'x-a: \0',
      'x a: b',
    ];
    for (const head of heads) {
      const { address } = await tcpServer(saying(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n2\r\nhi\r\n0\r\n\r\n`));
      assert.match(await failure(client().post(`http://${address}/`)), /^(malformed_answer|reset)$/, head);
    }
  });

  it('is a failure where it switches protocols or asks for a body that was sent', async () => {
    const responses = [
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi',
    ];
    for (const response of responses) {
      const { address } = await tcpServer(saying(response));
      assert.equal(await failure(client().post(`http://${address}/`)), 'reset', response);
    }
  });
});

describe('what is returned of a response', () => {
  it('is status, time and text, and never a header', async () => {
    const { address } = await tcpServer(
      saying('HTTP/1.1 500 Reason\r\nserver: internal/1.2\r\nset-cookie: a=b\r\ncontent-length: 4\r\n\r\noops'),
    );
    const result = await responseOf(client().post(`http://${address}/`));
    assert.deepEqual(
      { ...result, durationMs: 0 },
      { kind: 'answered', status: 500, retryAfterMs: null, excerpt: 'oops', durationMs: 0 },
    );
  });

  it('is never decompressed, and is text of 1 KB whatever the bytes are', async () => {
    for (const encoding of ['gzip', 'br', 'deflate', 'zstd', 'identity', 'x']) {
      const { address } = await tcpServer(
        saying(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: 4\r\n\r\noops`),
      );
      assert.equal((await responseOf(client().post(`http://${address}/`))).excerpt, '', encoding);
    }
    const fillings = ['\u{10ffff}', '🙂', 'xŊ', '\u202E', '\uFEFF', '\0'].map((character) =>
      Buffer.from(character.repeat(1_000)),
    );
    for (const body of [...fillings, Buffer.alloc(1_000, 0xff), Buffer.alloc(2_000, 0xc3)]) {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`;
      const { address } = await tcpServer(saying(Buffer.concat([Buffer.from(head), body])));
      const { excerpt } = await responseOf(client().post(`http://${address}/`));
      assert.ok(Buffer.byteLength(excerpt) <= 1_024, body.toString('hex', 0, 4));
      // oxlint-disable-next-line no-control-regex -- these must not be there
      assert.doesNotMatch(excerpt, /[\u0000-\u0008\u202a-\u202e\ufeff]/u);
    }
  });
});
