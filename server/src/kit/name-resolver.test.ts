import assert from 'node:assert/strict';
import { createHook } from 'node:async_hooks';
import { pbkdf2 } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { eventually } from '../../../test/harness/eventually.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { systemClock, type Clock } from './clock.ts';
import { createNameResolver } from './name-resolver.ts';
import { startNameServer, type NameResponse, type Question } from './name-server.corpus.ts';
import { createOutboundWorld, development, failure, production, responseOf, saying } from './outbound-world.corpus.ts';

const world = createOutboundWorld();
let directory: string;
let hostsFile: string;
let clock: ManualClock;
let names: Awaited<ReturnType<typeof startNameServer>>;
let respond: (question: Question) => NameResponse;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'dalasi-names-'));
  hostsFile = join(directory, 'hosts');
  names = await startNameServer((question) => respond(question));
});

beforeEach(async () => {
  clock = new ManualClock();
  respond = () => 'no_such_name';
  names.questions.length = 0;
  await writeFile(hostsFile, '# nobody\n');
});

after(async () => {
  await names.close();
  await world.close();
  await rm(directory, { recursive: true });
});

const resolver = (onClock: Clock = clock) =>
  createNameResolver({ clock: onClock, hostsFile, nameServers: () => [names.address] });

/** The code with which a name is not found. */
const codeOf = (found: Promise<unknown>): Promise<unknown> =>
  found.then(
    () => 'found',
    (error: NodeJS.ErrnoException) => error.code,
  );

describe('looking up a name that somebody else chose', () => {
  it('takes none of the process’s threads, on a development server as on a production server', async () => {
    const kinds: string[] = [];
    const hook = createHook({ init: (_id, type) => kinds.push(type) }).enable();
    for (const policy of [development, production]) {
      await failure(world.client({ policy, connectTimeoutMs: 300 }).post('http://nobody.shop.example:8080/'));
    }
    hook.disable();
    assert.ok(kinds.includes('QUERYWRAP'), 'it was asked for');
    assert.ok(!kinds.includes('GETADDRINFOREQWRAP'), 'the look-up that holds a thread');
  });

  it('delays nothing else while a hundred names get no response', async () => {
    respond = ({ name }) => (name.startsWith('dead') ? 'silence' : ['127.0.0.1']);
    const resolve = resolver(systemClock);
    let ended = 0;
    const dead = Array.from({ length: 100 }, (_, index) =>
      codeOf(resolve(`dead-${index}.example`)).then(() => (ended += 1)),
    );
    await eventually('they have been asked for', () => names.questions.length >= 200);
    const here = await world.tcpServer(saying('HTTP/1.1 204 No Content\r\n\r\n'));
    const { post } = world.client({ resolveName: resolve });
    const [response] = await Promise.all([
      responseOf(post(`http://alive.example:${here.port}/`)),
      // As the database's driver does with its host, and what else the threads are there for.
      lookup('localhost'),
      readFile(hostsFile),
      promisify(pbkdf2)('password', 'salt', 1_000, 32, 'sha256'),
      promisify(gzip)('page'),
    ]);
    assert.equal(response.status, 204);
    assert.equal(ended, 0, 'none of the dead names had been given up by then');
    respond = () => 'no_such_name';
    names.endSilence();
    await Promise.all(dead);
  });

  it('resolves names of the hosts file and localhost locally, in any case and with a trailing dot', async () => {
    await writeFile(hostsFile, '10.1.2.3 Shop.Test shop # ours\n::1 shop.test\nfe80::1%lo0 localhost\nnonsense here\n');
    const resolve = resolver();
    assert.deepEqual(await resolve('SHOP.test.'), ['10.1.2.3', '::1']);
    assert.deepEqual(await resolve('shop'), ['10.1.2.3']);
    for (const name of ['localhost', 'Localhost.', 'app.localhost']) {
      assert.deepEqual(await resolve(name), ['127.0.0.1', '::1'], name);
    }
    assert.deepEqual(names.questions, []);
  });

  it('notices within a second that the hosts file has changed or gone', async () => {
    const resolve = resolver();
    assert.equal(await codeOf(resolve('shop.test')), 'ENOTFOUND');
    await writeFile(hostsFile, '10.1.2.3 shop.test\n');
    await utimes(hostsFile, clock.now(), clock.now());
    await clock.advance(1_000);
    assert.deepEqual(await resolve('shop.test'), ['10.1.2.3']);
    await rm(hostsFile);
    await clock.advance(5_000);
    assert.equal(await codeOf(resolve('shop.test')), 'ENOTFOUND');
  });

  it('returns the addresses of both families, IPv4 first, and queries again for each connection', async () => {
    respond = ({ family }) => (family === 4 ? ['192.0.2.1', '192.0.2.2'] : ['2001:db8:0:0:0:0:0:1']);
    const resolve = resolver();
    const expected = ['192.0.2.1', '192.0.2.2', '2001:db8::1'];
    for (const count of [2, 4]) {
      assert.deepEqual(await resolve('shop.example'), expected);
      assert.equal(names.questions.length, count);
    }
  });

  it('returns one family after half a second when there is no response about the other', async () => {
    respond = ({ family }) => (family === 4 ? ['192.0.2.1'] : 'silence');
    const found = resolver()('shop.example');
    await clock.untilSleeping(1);
    await clock.advance(500);
    assert.deepEqual(await found, ['192.0.2.1']);
    names.endSilence();
  });

  it('queries once for concurrent look-ups of a name, and not again for five seconds after a failure', async () => {
    const resolve = resolver();
    const found = await Promise.all(Array.from({ length: 50 }, () => codeOf(resolve('nobody.example'))));
    assert.deepEqual(new Set(found), new Set(['ENOTFOUND']));
    assert.equal(names.questions.length, 2);
    await clock.advance(4_999);
    assert.equal(await codeOf(resolve('nobody.example')), 'ENOTFOUND');
    assert.equal(names.questions.length, 2);
    respond = () => ['192.0.2.1'];
    await clock.advance(1);
    assert.deepEqual(await resolve('nobody.example'), ['192.0.2.1']);
  });

  it('uses changed name servers of the machine after half a minute', async () => {
    const other = await startNameServer(() => ['192.0.2.9']);
    let current = names.address;
    const resolve = createNameResolver({ clock, hostsFile, nameServers: () => [current] });
    respond = () => ['192.0.2.1'];
    assert.deepEqual(await resolve('shop.example'), ['192.0.2.1']);
    current = other.address;
    await clock.advance(30_000);
    assert.deepEqual(await resolve('shop.example'), ['192.0.2.9']);
    await other.close();
  });

  it('fails with EAI_AGAIN where no name server responds, and the request fails with `dns`', async () => {
    const gone = await startNameServer(() => 'silence');
    await gone.close();
    const resolve = createNameResolver({ clock, hostsFile, nameServers: () => [gone.address] });
    assert.equal(await codeOf(resolve('shop.example')), 'EAI_AGAIN');
    assert.equal(await failure(world.client({ resolveName: resolve }).post('http://shop.example/')), 'dns');
  });
});
