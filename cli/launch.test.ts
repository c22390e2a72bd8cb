import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { CliWorld } from './run-cli.corpus.ts';
import type { RunningCli } from './run-cli.corpus.ts';

// Plain JavaScript, so that any Node runs it.
const launcher = new URL('launch.js', import.meta.url).href;
const { chooseNode } = (await import(launcher)) as { chooseNode: (version: string) => string | null };
const world = new CliWorld();
after(() => world.close());

/** Starts a script the way the launcher does when the Node that runs is too old. */
function throughLauncher(
  script: string,
  { args = [], input = '' }: { args?: string[]; input?: string } = {},
): RunningCli {
  const file = join(world.directory, `${crypto.randomUUID()}.mjs`);
  writeFileSync(file, script);
  const words = JSON.stringify([file, ...args]);
  const launch = `import { runInNode } from ${JSON.stringify(launcher)};
    await runInNode(process.execPath, ${words});`;
  return world.startProgram([process.execPath, '--input-type=module', '-e', launch], {}, input);
}

test('the Node that runs is kept when it is new enough, and is changed for the one of npm when it is not', () => {
  assert.equal(chooseNode(process.version), null);
  assert.equal(chooseNode('v25.1.0'), null);
  assert.match(chooseNode('v20.20.2') ?? '', /node_modules\/\.bin\/node$/);
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
  const repository = join(import.meta.dirname, '..');
  const settings = { npm_config_registry: 'http://127.0.0.1:9/', npm_config_cache: join(world.directory, 'npm') };
  const words = ['bash', '-c', `cd '${repository}' && npx --offline dalasi trigger --list --json`];
  const { code, stdout, stderr } = await world.startProgram(words, settings, '').ended;
  assert.equal(code, 0, stderr);
  assert.ok(JSON.parse(stdout));
});
