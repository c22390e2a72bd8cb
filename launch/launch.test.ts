import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CliProcessWorld, type RunningProcess } from '../cli/cli-process.corpus.ts';
import type { CliEnd } from '../cli/run-cli.corpus.ts';
import { makeOldNode } from '../test/harness/old-node.ts';

const repository = join(import.meta.dirname, '..');
const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const world = new CliProcessWorld();
after(() => world.close());
const oldNode = { PATH: `${makeOldNode(world.directory)}:${process.env['PATH'] ?? ''}` };

// Plain JavaScript, so that any Node runs it.
const { chooseNode } = (await import(new URL('choose-node.js', import.meta.url).href)) as {
  chooseNode: (running: { version: string; path: string }) => string;
};

/** Starts a script the way the tool does when the Node that runs is too old. */
function throughLauncher(
  script: string,
  { args = [], input = '' }: { args?: string[]; input?: string } = {},
): RunningProcess {
  const file = join(world.directory, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, script);
  const words = JSON.stringify([file, ...args]);
  const launch = `import { runInNode } from ${JSON.stringify(new URL('run-in-node.js', import.meta.url).href)};
    await runInNode(process.execPath, ${words});`;
  return world.startProgram([process.execPath, '--input-type=module', '-e', launch], {}, input);
}

/** A script of package.json as npm has a shell run it, in a folder, where `node` is too old. */
function runScript(name: string, folder: string, words = ''): Promise<CliEnd> {
  const line = `cd '${folder}' && ${scripts[name]} ${words}`;
  return world.startProgram(['sh', '-c', line], oldNode, '').ended;
}

test('a Node that is new enough is kept; for an older one the package of npm is found, linked or not', () => {
  for (const version of ['v24.3.0', 'v24.21.0', 'v25.0.0', process.version]) {
    assert.equal(chooseNode({ version, path: '/usr/bin/node' }), '/usr/bin/node', version);
  }
  for (const version of ['v18.20.8', 'v20.20.2', 'v22.23.3', 'v24.2.0']) {
    const chosen = chooseNode({ version, path: '/usr/bin/node' });
    assert.match(chosen, /\/node_modules\/node-\w+-\w+\/bin\/node$/, version);
  }
});

test('every script that runs TypeScript has the shell replaced by the right Node', () => {
  const launched =
    /^node=\$\(node launch\/node-path\.js\) && (export( \w+=\S+)+ && )?exec "\$node" (--\S+ )*\S+\.ts( --\w+| demo fill)?$/;
  for (const [name, line] of Object.entries(scripts)) {
    if (line.includes('.ts')) assert.match(line, launched, name);
  }
});

test('on Node 20, a script of package.json and the tool run on the Node that npm installed', async () => {
  const ends = await Promise.all([
    runScript('operator', repository, '--help'),
    world.startProgram(['node', join(repository, 'cli/dalasi.js'), '--help'], oldNode, '').ended,
  ]);
  for (const { code, stdout, stderr } of ends) {
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.match(stdout, /^(npm run operator --|dalasi) <command> \[--json\]/);
  }
});

test('where no Node is new enough, one sentence says what to do, and the exit code is 1', async () => {
  const folder = join(world.directory, 'without-optional-packages');
  for (const name of ['package.json', 'launch', 'cli']) {
    cpSync(join(repository, name), join(folder, name), { recursive: true });
  }
  const ends = await Promise.all([
    ...['start', 'operator', 'test'].map((name) => runScript(name, folder)),
    world.startProgram(['node', join(folder, 'cli/dalasi.js')], oldNode, '').ended,
  ]);
  for (const { code, stdout, stderr } of ends) {
    assert.match(stderr, /^Dalasi needs Node 24\.3 or newer and this is v20\.20\.2: .*--omit=optional.*\.\n$/);
    assert.deepEqual({ code, stdout }, { code: 1, stdout: '' });
  }
});

test('words, input, both outputs and the exit code go through', async () => {
  const script = `process.stdin.on('data', (text) => process.stdout.write('in ' + text));
    process.stderr.write(JSON.stringify(process.argv.slice(2)));
    process.exitCode = 7;`;
  const args = ['--json', 'a b', '', '"quoted"'];
  const { code, stdout, stderr } = await throughLauncher(script, { args, input: 'typed' }).ended;
  assert.deepEqual({ code, stdout, stderr }, { code: 7, stdout: 'in typed', stderr: JSON.stringify(args) });
});

test('a signal to the launcher reaches the program, which ends in its own way', async () => {
  const running = throughLauncher(`process.on('SIGINT', () => { console.log('summary'); process.exit(0); });
    setInterval(() => {}, 1000); console.log('ready');`);
  await running.printed(/ready/);
  running.signal('SIGINT');
  const { code, stdout } = await running.ended;
  assert.deepEqual({ code, stdout }, { code: 0, stdout: 'ready\nsummary\n' });
});

test('a program that a signal ended is seen to have been ended by it', async () => {
  const running = throughLauncher(`setInterval(() => {}, 1000); console.log('ready');`);
  await running.printed(/ready/);
  running.signal('SIGTERM');
  assert.equal((await running.ended).code, null);
});

test('npx finds the program in the repository without asking a registry', async () => {
  const settings = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(world.directory, 'npm') };
  const words = ['bash', '-c', `cd '${repository}' && npx --offline dalasi trigger --list --json`];
  const { code, stdout, stderr } = await world.startProgram(words, settings, '').ended;
  assert.equal(code, 0, stderr);
  assert.ok(JSON.parse(stdout));
});

test('the tool runs from a packed install, whose TypeScript lies below node_modules', async () => {
  const folder = join(world.directory, 'prefix/lib/node_modules/dalasi');
  mkdirSync(folder, { recursive: true });
  const pack = `cd '${repository}' && npm pack --silent --pack-destination '${world.directory}' &&
    tar -xzf '${world.directory}'/dalasi-*.tgz -C '${folder}' --strip-components=1`;
  const packed = await world.startProgram(['sh', '-c', pack], {}, '').ended;
  assert.equal(packed.code, 0, packed.stderr);
  // What npm would install beside it.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  for (const settings of [{}, oldNode]) {
    const words = ['node', join(folder, 'cli/dalasi.js'), 'trigger', '--list', '--json'];
    const { code, stdout, stderr } = await world.startProgram(words, settings, '').ended;
    assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
    assert.ok(JSON.parse(stdout));
  }
});
