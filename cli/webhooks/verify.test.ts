import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { UsageError } from '../../server/src/kit/command-line.ts';
import { eventBody } from '../../server/src/webhooks/envelope.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import { ManualClock } from '../../test/harness/manual-clock.ts';
import { CliWorld } from '../run-cli.corpus.ts';
import { runCommand, type RunSettings } from './command-run.corpus.ts';
import { readHeadersText } from './raw-headers.ts';
import { verifyCommand } from './verify.ts';

const world = new CliWorld();
after(() => world.close());

const clock = new ManualClock();
const sentAt = clock.now();
const id = '01a1f8ad-cfd8-71d4-91ca-33830ed0a267';
const recordText = '{"id":"c1","name":"Ŋañ 🙂","large":9007199254740993}';
const head = { id, kind: 'charge.succeeded', createdAt: sentAt, testMode: true, sequence: 2n, requestId: null };
const body = eventBody({ ...head, recordText });
const secret = `wh_${Buffer.alloc(32, 7).toString('base64')}`;
const otherSecret = `wh_${Buffer.alloc(32, 9).toString('base64')}`;
const environment = { DALASI_WEBHOOK_SECRET: secret };
const headers = signatureHeaders({ id, sentAt, body }, { current: secret, previous: null }, 'x-service-signature');
const headerLines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const headerWords = headerLines.flatMap((line) => ['--header', line]);

let filesMade = 0;

function file(content: string | Uint8Array): string {
  const path = join(world.directory, `file-${(filesMade += 1)}`);
  writeFileSync(path, content);
  return path;
}

const verify = (words: string[], settings: RunSettings = {}) =>
  runCommand(verifyCommand, words, { environment, clock, ...settings });

/** The causes that were named, by header. */
function causesIn(data: unknown): Record<string, string[]> {
  const { signatures } = data as { signatures: { header: string; causes: { cause: string }[] }[] };
  return Object.fromEntries(signatures.map(({ header, causes }) => [header, causes.map(({ cause }) => cause)]));
}

describe('dalasi webhooks verify', () => {
  it('reads the body from a file or standard input, byte for byte', async () => {
    const fromFile = await verify([file(body), ...headerWords]);
    assert.equal(fromFile.exitCode, 0);
    assert.equal(fromFile.text, 'x-service-signature verifies.\n\nwebhook-signature verifies.');
    assert.equal((await verify([...headerWords], { input: body })).exitCode, 0);
    assert.equal((await verify(['-', ...headerWords], { input: body })).exitCode, 0);
    const withLineEnd = await verify(headerWords, { input: Buffer.concat([body, Buffer.from('\n')]) });
    assert.equal(withLineEnd.exitCode, 1);
    assert.match(withLineEnd.text, /x-service-signature does not verify\.\n {2}The body has a trailing newline/);
  });

  it('takes the secret of the demo endpoint where none is set, as listen does', async () => {
    const directory = mkdtempSync(join(world.directory, 'demo-'));
    const demo = { base_url: 'http://localhost:8080', secret_key: 'sk_test_x', webhook_secret: secret };
    writeFileSync(join(directory, 'demo.json'), JSON.stringify(demo));
    const words = [file(body), ...headerWords];
    assert.equal((await verify(words, { environment: { DATA_DIR: directory } })).exitCode, 0);
    const other = { DATA_DIR: directory, DALASI_WEBHOOK_SECRET: otherSecret };
    assert.equal((await verify(words, { environment: other })).exitCode, 1, 'what is set goes before');
  });

  it('reads the secret from a file, and names another secret that verifies', async () => {
    const strange = signatureHeaders(
      { id, sentAt, body },
      { current: otherSecret, previous: null },
      'x-service-signature',
    );
    const words = [file(body), '--headers-file', file(JSON.stringify(strange)), '--secret-file', file(`${secret}\n`)];
    const alone = await verify(words, { environment: {} });
    assert.deepEqual(causesIn(alone.data), {
      'x-service-signature': ['wrong_secret'],
      'webhook-signature': ['wrong_secret'],
    });
    const forms = [`till ${otherSecret}`, `till: ${otherSecret}`, `till=${otherSecret}`, `till="${otherSecret}"`];
    for (const others of forms.map((form) => `shop=${secret}\n\n${form}\n`)) {
      const run = await verify([...words, '--other-secret-file', file(others)], { environment: {} });
      assert.match(run.text, /another secret that you gave: till\./);
      assert.ok(!run.text.includes(otherSecret), 'and shows none');
    }
    const lines = file(`${secret}\n\n${otherSecret}\n`);
    const unnamed = await verify([...words, '--other-secret-file', lines], { environment: {} });
    assert.match(unnamed.text, /another secret that you gave: .*, line 3\./);
  });

  it('verifies a stored request at its time of receipt', async () => {
    const later = new ManualClock(new Date(sentAt.getTime() + 3_600_000));
    const words = [file(body), ...headerWords];
    assert.deepEqual(causesIn((await verify(words, { clock: later })).data), {
      'x-service-signature': [],
      'webhook-signature': ['timestamp_old'],
    });
    for (const at of [sentAt.toISOString(), '1h']) {
      assert.equal((await verify([...words, '--at', at], { clock: later })).exitCode, 0);
    }
  });

  it('accepts another name of the service’s own header', async () => {
    const own = [file(body), '--header', `X-Shop-Signature: ${headers['x-service-signature']}`];
    assert.equal((await verify([...own, '--service-header', 'X-Shop-Signature'])).exitCode, 0);
    assert.deepEqual(causesIn((await verify(own)).data), { 'x-service-signature': ['header_missing'] });
  });

  it('reads headers as received, as printed by curl, and as JSON', () => {
    const read = (text: string) => Object.fromEntries(readHeadersText(text));
    const dump = [
      '*   Trying 127.0.0.1:4000...',
      '> POST /hook HTTP/1.1',
      ...headerLines.map((line) => `> ${line}`),
      '>',
      '< HTTP/1.1 401 Unauthorized',
      '< webhook-id: of the answer',
    ];
    assert.deepEqual(read(dump.join('\r\n')), headers);
    assert.deepEqual(read(['POST /hook HTTP/1.1', ...headerLines, '', 'webhook-id: in the body'].join('\n')), headers);
    assert.deepEqual(read(headerLines.join('\n').replace('webhook-id', 'Webhook-Id')), headers);
    assert.deepEqual(read(JSON.stringify(headers)), headers);
    assert.deepEqual(read('{"Webhook-Id":["a"]}'), { 'webhook-id': 'a' });
    assert.throws(() => read('nothing here'), UsageError);
    assert.throws(() => read('{"webhook-id"'), UsageError);
  });

  it('refuses a missing or malformed input as a usage error', async () => {
    const path = file(body);
    const mistakes: [words: string[], settings: RunSettings, message: RegExp][] = [
      [[path, ...headerWords], { environment: { DATA_DIR: world.directory } }, /DALASI_WEBHOOK_SECRET/],
      [[path, ...headerWords], { environment: { DALASI_WEBHOOK_SECRET: ' ' } }, /DALASI_WEBHOOK_SECRET/],
      [[path, ...headerWords, '--secret-file', file('\n')], {}, /is empty/],
      [[path, ...headerWords, '--secret-file', `${path}-none`], {}, /^There is no file \S+-none\.$/],
      [[`${path}-none`, ...headerWords], {}, /^There is no file \S+-none\.$/],
      [[path], {}, /--headers-file/],
      [[path, '--header', 'no header'], {}, /is not a header/],
      [[path, ...headerWords, '--at', 'then'], {}, /--at/],
      [headerWords, { isInteractive: true }, /Name the file/],
      [[path, '--secret', secret], {}, /--secret/],
    ];
    for (const [words, settings, message] of mistakes) {
      await assert.rejects(
        verify(words, settings),
        (error) => error instanceof UsageError && message.test(error.message),
      );
    }
  });

  it('ends with exit code 0, 1 or 2, and prints JSON with --json', async () => {
    const path = file(body);
    const at = ['--at', sentAt.toISOString()];
    const good = await world.run(['webhooks', 'verify', path, ...headerWords, ...at, '--json'], environment);
    assert.equal(good.code, 0);
    assert.equal((JSON.parse(good.stdout) as { verified: boolean }).verified, true);
    const bad = await world.run(['webhooks', 'verify', ...headerWords, ...at, '--json'], environment, '{}');
    assert.equal(bad.code, 1);
    assert.deepEqual(causesIn(JSON.parse(bad.stdout)), {
      'x-service-signature': ['body_lost'],
      'webhook-signature': ['body_lost'],
    });
    assert.equal((await world.run(['webhooks', 'verify', path], environment)).code, 2);
  });
});
