import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Agent, request } from 'undici';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { systemClock } from './clock.ts';
import { guardedConnector } from './outbound-connector.ts';
import type { ResolveName } from './name-resolver.ts';
import type { AddressPolicy } from './outbound-guard.ts';
import { forbiddenAddresses } from './outbound-vectors.corpus.ts';
import {
  createOutboundWorld,
  development,
  failure,
  production,
  responseOf,
  saying,
  type TcpServer,
} from './outbound-world.corpus.ts';

const world = createOutboundWorld();
const { client } = world;
const noContent = 'HTTP/1.1 204 No Content\r\n\r\n';
/** Listens on every address of this machine, so that whoever gets through anywhere is seen. */
let everywhere: TcpServer;
before(async () => {
  everywhere = await world.tcpServer(saying(noContent), '::');
});
after(world.close);

/** Requests below the judgement of the URL: only the connector stands between them and the socket. */
function connectOnly(policy: AddressPolicy, resolveName?: ResolveName): (url: string) => Promise<number> {
  const sockets = new Set<never>();
  const options = { policy, resolveName, clock: systemClock, connectTimeoutMs: 2_000, sockets };
  const agent = new Agent({ connect: guardedConnector(options) });
  world.onClose(() => agent.destroy());
  return async (url) => (await request(url, { dispatcher: agent })).statusCode;
}

const noLookUp: ResolveName = async (name) => assert.fail(`no name may be looked up: ${name}`);

describe('a literal address', () => {
  it('is judged at the connection in every spelling, though nobody looks it up', async () => {
    const connect = connectOnly(production, noLookUp);
    for (const host of forbiddenAddresses.flatMap(({ spellings }) => spellings)) {
      for (const scheme of ['http', 'https']) {
        const url = `${scheme}://${host}:${everywhere.port}/`;
        await assert.rejects(connect(url), { name: 'UrlNotAllowedError' }, url);
        assert.equal(await failure(client({ policy: production }).post(url)), 'blocked', url);
      }
    }
    assert.equal(everywhere.sockets.length, 0);
  });

  it('is refused on a development server too where it is nobody’s', async () => {
    const connect = connectOnly(development, noLookUp);
    for (const { spellings, development: verdict } of forbiddenAddresses) {
      if (verdict === 'allowed') continue;
      for (const host of spellings) {
        const url = `http://${host}:${everywhere.port}/`;
        await assert.rejects(connect(url), { name: 'UrlNotAllowedError' }, url);
      }
    }
    assert.equal(everywhere.sockets.length, 0);
  });

  it('would have reached this machine in each of the spellings of loopback', async () => {
    const here = await world.tcpServer(saying(noContent));
    const loopback = forbiddenAddresses
      .filter(({ address }) => address === '127.0.0.1')
      .flatMap((address) => address.spellings);
    for (const host of loopback) {
      assert.equal((await responseOf(client().post(`http://${host}:${here.port}/`))).status, 204, host);
    }
    assert.equal(here.sockets.length, loopback.length);
  });
});

describe('a name', () => {
  const addresses = forbiddenAddresses.map(({ address }) => address);

  it('that leads to a forbidden address is never connected to, alone or among public ones in any order', async () => {
    for (const address of addresses) {
      const manyPublic = Array.from({ length: 40 }, (_, index) => `8.8.${index}.8`);
      const responses = [[address], ['2606:4700::1111', address], [address, '8.8.8.8'], [...manyPublic, address]];
      for (const addresses of responses) {
        const guarded = client({ policy: production, resolveName: async () => addresses });
        // A port that the guard lets through, so that only the address can be the reason.
        assert.equal(await failure(guarded.post('http://shop.example:8080/')), 'blocked', addresses.join(' '));
        const url = `http://shop.example:${everywhere.port}/`;
        await assert.rejects(connectOnly(production, async () => addresses)(url), { name: 'UrlNotAllowedError' });
      }
    }
    assert.equal(everywhere.sockets.length, 0);
  });

  it('that leads to what is nobody’s is refused on a development server too', async () => {
    for (const { address, development: verdict } of forbiddenAddresses) {
      if (verdict === 'allowed') continue;
      const resolveName: ResolveName = async () => ['127.0.0.1', address];
      const url = `http://shop.example:${everywhere.port}/`;
      assert.equal(await failure(client({ resolveName }).post(url)), 'blocked', address);
    }
    assert.equal(everywhere.sockets.length, 0);
  });

  it('whose answer is no address, or has a zone, is not connected to', async () => {
    for (const address of ['', 'localhost', '0x7f.1', '127.1', '2130706433', 'fe80::1%lo', '::1%1', '127.0.0.1%lo']) {
      const url = `http://shop.example:${everywhere.port}/`;
      assert.equal(await failure(client({ resolveName: async () => [address] }).post(url)), 'blocked', address);
    }
    assert.equal(everywhere.sockets.length, 0);
  });

  it('is judged by the very answer that is connected to: it cannot flip between judgement and connection', async () => {
    // 127.0.0.1 stands for a public address, 127.0.0.2 for a private one: only the first is allowed.
    const policy = { allowPrivate: true, refusedAddresses: ['127.0.0.2'] };
    const reached: (string | undefined)[] = [];
    const open = await world.tcpServer((socket) => {
      reached.push(socket.localAddress);
      saying('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n')(socket);
    }, '0.0.0.0');
    let lookUps = 0;
    const flipping: ResolveName = async () => [(lookUps += 1) % 2 === 1 ? '127.0.0.1' : '127.0.0.2'];
    const guarded = client({ policy, resolveName: flipping });
    for (let request = 1; request <= 20; request += 1) {
      const result = await guarded.post(`http://shop.example:${open.port}/`);
      assert.equal(result.kind, request % 2 === 1 ? 'answered' : 'failed');
      assert.equal(lookUps, request, 'one look-up for one connection');
    }
    assert.deepEqual(reached, Array(10).fill('127.0.0.1'));
  });

  it('keeps its connection to itself: another name at the same address gets its own', async () => {
    const hosts: string[] = [];
    const ports: (number | undefined)[] = [];
    const url = await world.httpServer((incoming, response) => {
      hosts.push(incoming.headers.host ?? '');
      ports.push(incoming.socket.remotePort);
      response.end();
    });
    const { port } = new URL(url);
    const { post } = client({ resolveName: async () => ['127.0.0.1'] });
    for (const host of ['one.example', 'two.example', 'one.example', 'ONE.example', '127.0.0.1']) {
      await responseOf(post(`http://${host}:${port}/`));
      // The connection is free once the end of the answer has been worked off.
      await new Promise(setImmediate);
    }
    const named = (name: string): string => `${name}:${port}`;
    assert.deepEqual(hosts, ['one.example', 'two.example', 'one.example', 'one.example', '127.0.0.1'].map(named));
    const [one, two, oneAgain, oneInCapitals, literal] = ports;
    assert.deepEqual([oneAgain, oneInCapitals], [one, one]);
    assert.equal(new Set([one, two, literal]).size, 3);
  });
});

describe('a URL that was stored unvalidated', () => {
  it('is called with no other scheme, no forbidden port, no user name and nothing that splits a request', async () => {
    const urls = [
      ...[
        'shop://done',
        'javascript:alert(1)',
        'file:///etc/passwd',
        'ftp://shop.example/',
        '',
        'shop.example',
        '//a.b',
      ],
      ...['http://a:b@shop.example/', 'http://a@shop.example/', 'http://:b@shop.example/', 'http://shop.example:5432/'],
      ...[
        'http://shop.example/\r\nx-a: b',
        'http://shop.example/ HTTP/1.1\r\n\r\n',
        'http://shop.example\t/',
        'http:\\\\a.b',
      ],
      ...['http://shop.example/\u0000', 'http://shop.example/\u0085', `http://shop.example/${'a'.repeat(3_000)}`],
    ];
    const { post } = client({ policy: production, resolveName: noLookUp });
    for (const url of urls) assert.equal(await failure(post(url)), 'blocked', url);
  });

  it('goes out as it was parsed, with what could end a line or a header written as a code', async () => {
    const seen: string[] = [];
    const url = await world.httpServer((incoming, response) => {
      seen.push(`${incoming.url} ${incoming.headers.host}`);
      response.end();
    });
    const { host } = new URL(url);
    await responseOf(client().post(`${url}/a/../b%0d%0ax-a:%20c?d=Ŋ"<>#e`));
    assert.deepEqual(seen, [`/b%0d%0ax-a:%20c?d=%C5%8A%22%3C%3E ${host}`]);
  });
});

describe('what is behind a private address', () => {
  it('refuses a port that listens and one that does not alike, before any connection', async () => {
    const resolveName: ResolveName = async () => ['127.0.0.1'];
    for (const host of ['127.0.0.1', 'shop.example']) {
      const results = [];
      // Nothing listens on port 1.
      for (const port of [everywhere.port, 1]) {
        const connect = connectOnly(production, resolveName);
        const error = await connect(`http://${host}:${port}/`).catch((reason: Error) => reason);
        assert.ok(error instanceof Error);
        results.push(`${error.name}: ${error.message}`);
      }
      assert.equal(new Set(results).size, 1, results.join(' '));
    }
    assert.equal(everywhere.sockets.length, 0);
  });
});

describe('the server’s own names', () => {
  const own = { ...development, refusedNames: ['pay.example.gm', 'db.example.gm'] };
  const addressesByName: Record<string, string[]> = {
    'pay.example.gm': ['127.0.0.5'],
    'db.example.gm': ['127.0.0.6', '::1'],
    'merchant.example': ['127.0.0.5'],
    'other.example': ['127.0.0.6'],
    'shop.example': ['127.0.0.1'],
  };
  const lookUps: string[] = [];
  const resolveName: ResolveName = async (name) => {
    lookUps.push(name);
    return addressesByName[name] ?? [];
  };

  it('are not called under another name or as an address, and are asked for once a minute', async () => {
    const clock = new ManualClock();
    const here = await world.tcpServer(saying('HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n'), '::');
    const { post } = client({ policy: own, resolveName, clock });
    const to = (host: string): Promise<string> => failure(post(`http://${host}:${here.port}/`));
    const forbidden = ['pay.example.gm', 'PAY.example.gm.', 'db.example.gm', 'merchant.example', 'other.example'];
    for (const host of [...forbidden, '127.0.0.5', '0x7f.6', '[::1]', '[::ffff:127.0.0.6]']) {
      assert.equal(await to(host), 'blocked', host);
    }
    assert.equal(here.sockets.length, 0);
    assert.equal(await to('shop.example'), 'answered 204');
    const lookUpCount = (): number => lookUps.filter((name) => name === 'pay.example.gm').length;
    assert.equal(lookUpCount(), 1);
    await clock.advance(60_000);
    addressesByName['pay.example.gm'] = ['127.0.0.7'];
    assert.equal(await to('127.0.0.7'), 'blocked');
    assert.equal(await to('127.0.0.5'), 'answered 204');
    assert.equal(lookUpCount(), 2);
  });

  it('that do not resolve keep nobody from being called', async () => {
    const policy = { ...development, refusedNames: ['gone.example.gm'] };
    const nowhere: ResolveName = async (name) => {
      if (name === 'shop.example') return ['127.0.0.1'];
      throw Object.assign(new Error('nowhere'), { code: 'ENOTFOUND' });
    };
    const here = await world.tcpServer(saying(noContent));
    const { post } = client({ policy, resolveName: nowhere });
    assert.equal((await responseOf(post(`http://shop.example:${here.port}/`))).status, 204);
    assert.equal((await responseOf(post(`http://127.0.0.1:${here.port}/`))).status, 204);
  });
});
