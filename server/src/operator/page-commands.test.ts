import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { ServiceWorld } from '../../../test/harness/service-world.ts';
import type { CommandOutput } from '../../../test/harness/service-world.ts';
import { startService } from '../../../test/harness/service.ts';
import type { TestService } from '../../../test/harness/service.ts';

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

/** A proxy before the service, as somebody has changed it. */
async function throughProxy(
  change: (page: { text: string; policy: string; path: string }) => { text?: string; policy?: string },
): Promise<CommandOutput> {
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
  const output = await verify(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  proxy.closeAllConnections();
  proxy.close();
  return output;
}

test('the pages of a server of this release have its scripts only', async () => {
  const { code, stdout, stderr } = await verify(service.url);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' }, stdout);
  assert.match(stdout, /^The scripts are those of this release: [1-9]\d* scripts of 4 pages\.\n$/);
  assert.equal((await throughProxy(() => ({}))).code, 0, 'a proxy that changes nothing is not noticed');
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
