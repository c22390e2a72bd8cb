import assert from 'node:assert/strict';
import { setDefaultCACertificates, type TlsOptions } from 'node:tls';
import { after, describe, it } from 'node:test';
import { certificateAuthority, certificateFor, selfSignedCertificate } from './certificates.corpus.ts';
import { createOutboundWorld, development, failure, responseOf, type TcpServer } from './outbound-world.corpus.ts';

const { client, tlsServer, close } = createOutboundWorld();
after(close);

// What the machine trusts, for this process: a certificate is then refused for the one reason the test is about.
const authority = certificateAuthority('trusted');
setDefaultCACertificates([authority.cert]);

const valid = certificateFor({ hosts: ['shop.example', '127.0.0.1'] }, authority);
const toLoopback = { resolveName: async () => ['127.0.0.1'] };

/** Its sockets are those over which something was sent. */
function server(options: TlsOptions): Promise<TcpServer & { seen: Buffer[] }> {
  const seen: Buffer[] = [];
  const started = tlsServer(options, (socket) => {
    socket.on('data', (bytes: Buffer) => {
      seen.push(bytes);
      socket.end('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n');
    });
  });
  return started.then((made) => ({ ...made, seen }));
}

async function refused(options: TlsOptions, url: (port: number) => string): Promise<void> {
  const { port, seen } = await server(options);
  const { post } = client(toLoopback);
  // More than once: what was learnt from the first attempt must not let the second one through.
  for (let attempt = 0; attempt < 3; attempt += 1) assert.equal(await failure(post(url(port))), 'tls');
  assert.deepEqual(seen, [], 'nothing was sent');
}

const byName = (port: number): string => `https://shop.example:${port}/`;
const byAddress = (port: number): string => `https://127.0.0.1:${port}/`;

describe('a call over TLS', () => {
  it('succeeds with a certificate of a trusted authority, by name and address, TLS 1.2 and 1.3', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { port, seen } = await server({ ...valid, minVersion: version, maxVersion: version });
      const { post } = client(toLoopback);
      for (const url of [byName(port), byName(port), byAddress(port)]) {
        assert.equal((await responseOf(post(url))).status, 204, version);
      }
      assert.equal(seen.length, 3);
    }
  });

  it('fails with TLS 1.1 or 1.0', async () => {
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      await refused({ ...valid, minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' }, byName);
    }
  });

  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const only = { minVersion: version, maxVersion: version };
    it(`fails with a certificate for another name or address, with ${version}`, async () => {
      const others = ['other.example', 'shop.example.other', 'a.shop.example', 'example', '127.0.0.2'];
      for (const host of others) {
        const certificate = certificateFor({ hosts: [host] }, authority);
        await refused({ ...certificate, ...only }, byName);
        await refused({ ...certificate, ...only }, byAddress);
      }
    });

    it(`fails with an expired or not yet valid certificate, with ${version}`, async () => {
      const hosts = ['shop.example'];
      await refused({ ...certificateFor({ hosts, until: new Date('2021-01-01') }, authority), ...only }, byName);
      await refused({ ...certificateFor({ hosts, from: new Date('2090-01-01') }, authority), ...only }, byName);
    });

    it(`fails with a certificate of an untrusted authority, with ${version}`, async () => {
      const stranger = certificateFor({ hosts: ['shop.example'] }, certificateAuthority('unknown'));
      const impostor = certificateFor({ hosts: ['shop.example'] }, certificateAuthority('trusted'));
      for (const certificate of [selfSignedCertificate('shop.example'), stranger, impostor]) {
        await refused({ ...certificate, ...only }, byName);
      }
    });
  }

  it('fails also when the environment disables certificate checks', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      await refused(selfSignedCertificate('shop.example'), byName);
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });

  it('may reach a name that shares this server’s address when its certificate is another’s', async () => {
    const policy = { ...development, refusedNames: ['pay.example.gm'] };
    const { port } = await server(valid);
    const { post } = client({ ...toLoopback, policy });
    assert.equal((await responseOf(post(byName(port)))).status, 204);
    assert.equal(await failure(post(byAddress(port))), 'blocked');
    assert.equal(await failure(post(`https://merchant.example:${port}/`)), 'tls');
    assert.equal(await failure(post(`https://pay.example.gm:${port}/`)), 'blocked');
  });
});
