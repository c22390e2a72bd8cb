import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { SettableClock } from '../../../test/harness/settable-clock.ts';
import { ServiceWorld, type CommandOutput } from '../../../test/harness/service-world.ts';
import { startService, type TestService } from '../../../test/harness/service.ts';
import { createServiceLog } from '../api/service-log.ts';
import { ScriptComparisons } from '../app/page-scripts/script-comparisons.ts';
import { createMetrics } from '../http/metrics.ts';

let world: ServiceWorld;
let service: TestService;

before(async () => {
  world = new ServiceWorld();
  service = await startService();
});

after(async () => {
  await service.stop();
  await world.close();
});

const verify = (url: string, ...more: string[]): Promise<CommandOutput> =>
  world.runOperatorInProcess({ DATA_DIR: world.newDataDirectory() }, ['pages', 'verify', '--url', url, ...more]);

type Change = (page: { text: string; policy: string; path: string }) => { text?: string; policy?: string };

async function throughProxy(change: Change): Promise<CommandOutput> {
  await using proxy = await startProxy(change);
  return await verify(proxy.url);
}

/** A proxy before the service, as somebody has changed it. */
async function startProxy(change: Change): Promise<AsyncDisposable & { url: string }> {
  const proxy = createServer((request, response) => {
    void (async () => {
      const path = request.url ?? '/';
      const real = await fetch(service.url + path);
      const page = { text: await real.text(), policy: real.headers.get('content-security-policy') ?? '', path };
      const { text, policy } = { ...page, ...change(page) };
      response.setHeader('content-type', real.headers.get('content-type') ?? 'text/plain');
      if (policy !== '') response.setHeader('content-security-policy', policy);
      response.end(text);
    })();
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}

test('the pages of a server of this release have its scripts only', async () => {
  const { code, stdout, stderr } = await verify(service.url);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
  assert.match(stdout, /^The scripts are those of this release: [1-9]\d* scripts of 4 pages\.\n$/);
  assert.equal((await throughProxy(() => ({}))).code, 0, 'a proxy that changes nothing is not noticed');
});

test('an address that is none, or where nothing listens, is said in a sentence with its exit code', async () => {
  const unreachable = await verify('http://127.0.0.1:9');
  assert.deepEqual([unreachable.code, unreachable.stdout], [1, '']);
  assert.match(unreachable.stderr, /^http:\/\/127\.0\.0\.1:9 cannot be reached: .+\.\n$/);
  assert.equal((await verify('ftp://pay.example.gm')).code, 2);
});

const changes: [string, Parameters<typeof throughProxy>[0], RegExp][] = [
  [
    'an inline script is added',
    ({ text }) => ({ text: text.replace('</body>', '<script>steal()</script></body>') }),
    /^\/dashboard\/sign-in: an inline script is not of this release: sha256-/m,
  ],
  [
    'a script of others is added',
    ({ text }) => ({ text: text.replace('</head>', '<script src="https://cdn.example/a.js"></script></head>') }),
    /^\/operator\/sign-in: a script is loaded from https:\/\/cdn\.example\.$/m,
  ],
  [
    'a file is changed',
    ({ text, path }) => (path.endsWith('.js') ? { text: `${text};steal()` } : {}),
    /^\/dashboard\/sign-in: \/dashboard\/assets\/\w+\.js is not of this release: sha256-/m,
  ],
  [
    'the policy allows others',
    ({ policy }) => ({ policy: policy.replace("script-src 'self'", "script-src 'self' 'unsafe-inline'") }),
    /^\/dashboard\/sign-in: its policy allows scripts of 'unsafe-inline'\.$/m,
  ],
  ['there is no policy', () => ({ policy: '' }), /^\/pay\/not-found: it has no content security policy\.$/m],
];
for (const [name, change, finding] of changes) {
  test(`a script or a policy that is not of the release is named, and ends with 1: ${name}`, async () => {
    const { code, stdout } = await throughProxy(change);
    assert.equal(code, 1, stdout);
    assert.match(stdout, finding);
    assert.match(stdout, /\nThe scripts are NOT those of this release: /);
  });
}

test('a service compares its own pages every hour, and its figures tell a changed script and none at all', async () => {
  const clock = new SettableClock(service.clock.now());
  const metrics = createMetrics();
  let isChanged = false;
  const proxy = await startProxy(({ text, path }) =>
    isChanged && path.endsWith('.js') ? { text: `${text};steal()` } : {},
  );
  const log = createServiceLog({ level: 'error', write: (line) => lines.push(line) });
  const lines: string[] = [];
  const { signal: closing } = new AbortController();
  const comparisons = new ScriptComparisons({ publicUrl: () => proxy.url, isOn: true, clock, log, closing });
  comparisons.register(metrics);
  const figures = async (minutesLater: number): Promise<(number | undefined)[]> => {
    clock.set(new Date(clock.now().getTime() + minutesLater * 60_000));
    await comparisons.run();
    const text = await metrics.text();
    return ['wrong', 'verified_seconds'].map((name) => {
      const value = new RegExp(`^dalasi_page_scripts_${name} (.*)$`, 'm').exec(text)?.[1];
      return value === undefined ? undefined : Number(value);
    });
  };
  assert.deepEqual(await figures(1), [undefined, 60], 'no figure of a comparison before the first');
  assert.deepEqual(await figures(9), [0, 0]);
  isChanged = true;
  assert.deepEqual(await figures(30), [0, 1_800], 'not due yet');
  assert.deepEqual(await figures(30), [1, 3_600]);
  assert.match(lines.join(), /\/dashboard\/assets\/\w+\.js is not of this release/);
  isChanged = false;
  assert.deepEqual(await figures(60), [0, 0], 'it was put right');
  await proxy[Symbol.asyncDispose]();
  assert.deepEqual(await figures(60), [1, 3_600], 'the proxy does not respond');
});

test('an API process in production compares its pages by itself; a worker, or in development, none does', async () => {
  const production = { APP_ENV: 'production', PUBLIC_URL: 'https://pay.example.gm' };
  const DATABASE_URL = service.database.adminUrl;
  for (const [settings, isOn] of [
    [{ ...production, DATABASE_URL, ROLE: 'api' }, true],
    [{ ...production, DATABASE_URL, ROLE: 'worker' }, false],
    [{ DATABASE_URL, ROLE: 'api' }, false],
  ] as const) {
    const process = await startService({ settings, database: service.database });
    const text = await (await fetch(`${process.url}/metrics`)).text();
    await process.stop();
    assert.equal(/^dalasi_page_scripts_verified_seconds /m.test(text), isOn, JSON.stringify(settings));
    const beat = /^dalasi_heartbeat_seconds\{queue="comparing the scripts of the pages"\}/m;
    assert.equal(beat.test(text), isOn, JSON.stringify(settings));
  }
});
