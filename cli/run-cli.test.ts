import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import manifest from '../package.json' with { type: 'json' };
import { readUsage } from '../server/src/kit/command-usage.ts';
import { CliWorld } from './run-cli.corpus.ts';
import { loadAllCommands } from './run-cli.ts';

const commands = await loadAllCommands();
const world = new CliWorld();
after(() => world.close());

test('without arguments, with --help and with help it lists every command and ends with 0', async () => {
  const ends = await Promise.all([[], ['--help'], ['help']].map((words) => world.run(words)));
  for (const { code, stdout, stderr } of ends) {
    assert.equal(code, 0);
    assert.equal(stderr, '');
    for (const { name, summary } of commands) assert.ok(stdout.includes(name) && stdout.includes(summary), name);
    for (const line of stdout.split('\n')) assert.ok(line.length <= 80, `wider than a terminal: ${line}`);
  }
});

test('the help of each command names all of its options', async () => {
  const ends = await Promise.all(commands.map(({ name }) => world.run([...name.split(' '), '--help'])));
  for (const [index, { name, usage, moreOptions }] of commands.entries()) {
    const { code, stdout } = ends[index] ?? assert.fail();
    assert.equal(code, 0, name);
    for (const option of readUsage([usage, moreOptions].join(' ')).options.keys()) {
      assert.ok(stdout.includes(`--${option}`), `${name} --help does not say --${option}`);
    }
  }
});

test('docs/cli.md names every command', () => {
  const page = readFileSync(join(import.meta.dirname, '../docs/cli.md'), 'utf8');
  for (const { name } of commands) assert.match(page, new RegExp(`dalasi ${name}\\b`), name);
});

test('the help of a group lists the commands of that group', async () => {
  for (const words of [
    ['events', '--help'],
    ['help', 'events'],
    ['keys', '--help'],
  ]) {
    const { code, stdout } = await world.run(words);
    assert.equal(code, 0);
    assert.match(stdout, words.includes('keys') ? /keys save[\s\S]*keys remove/ : /events tail[\s\S]*events resend/);
    assert.doesNotMatch(stdout, /^ {2}listen/m);
  }
});

test('a mistyped command ends with 2 and one sentence that says what to do', async () => {
  const cases: [string[], RegExp][] = [
    [['lisen'], /^There is no command "lisen"\. Did you mean listen\? See: dalasi --help\n$/],
    [['events'], /^Choose a command: events tail, events show, events resend\.\n$/],
    [['events', 'list'], /^Choose a command: events tail, events show, events resend\.\n$/],
    [['events', 'tial'], /^Choose a command: events tail, events show, events resend\. Did you mean events tail\?\n$/],
    [['listen'], /^--forward-to is missing\. Usage: dalasi listen --forward-to <url>/],
    [
      ['trigger', 'charge.succeeded', '--amonut', '5'],
      /^There is no option --amonut\. Did you mean --amount\? Usage: dalasi trigger /,
    ],
    [['trigger', 'charge.succeeded', '--amount'], /^--amount needs a value\. Usage: dalasi trigger /],
    [['events', 'tail', '--follow=yes'], /^--follow takes no value\. Usage: dalasi events tail /],
    [['events', 'tail', '-x'], /^There is no option -x\. Usage: dalasi events tail /],
    [['--version', 'now'], /^--version stands alone\. See: dalasi --help\n$/],
    [['--verison'], /^There is no option --verison\. Did you mean --version\? See: dalasi --help\n$/],
    [['--json', 'events', 'tail'], /^--json stands after a command\. See: dalasi --help\n$/],
    [['keys', 'sav'], /^Choose a command: keys save, keys use, keys remove\. Did you mean keys save\?\n$/],
    [['events', 'show'], /^Usage: dalasi events show <id>/],
    [['trigger', 'charge.suceeded'], /^There is no event "charge\.suceeded"\. Did you mean charge\.succeeded\?/],
    [
      ['trigger', 'charge.succeeded'],
      /^No API key found\. Start a development server with npm start, set DALASI_API_KEY, or save/,
    ],
  ];
  for (const [words, sentence] of cases) {
    const { code, stdout, stderr } = await world.run(words);
    assert.equal(code, 2, words.join(' '));
    assert.match(stderr, sentence);
    assert.equal(stdout, '');
    assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
  }
});

test('--version prints the name and the version', async () => {
  const { code, stdout } = await world.run(['--version']);
  assert.deepEqual([code, stdout], [0, `dalasi ${manifest.version}\n`]);
});

test('--json makes standard output one JSON document', async () => {
  const { code, stdout } = await world.run(['trigger', '--list', '--json']);
  assert.equal(code, 0);
  const rows = JSON.parse(stdout) as { event: string }[];
  assert.ok(rows.some(({ event }) => event === 'charge.succeeded'));
});
