import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { systemRandom } from '../server/src/kit/random.ts';
import { createApiKeyText } from '../server/src/merchants/api-key.ts';
import { eventRow, readResponse } from './api/responses.ts';
import { CommandFailure } from './command.ts';
import { eventLine, eventText } from './events/event-text.ts';
import { createOutput } from './output.ts';
import { CliWorld, type CliEnd } from './run-cli.corpus.ts';

// The tool against another or a hostile server: its responses reach the terminal as plain text only, and a command ends
// with a sentence, never with a stack.

const world = new CliWorld();
let body: unknown;
let status = 200;
/** Before each response. */
let onRequest = (): void => {};
const server = createServer((_request, response) => {
  onRequest();
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
});
let settings: Record<string, string>;

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  settings = { DALASI_API_KEY: createApiKeyText(systemRandom, true), DALASI_URL: `http://127.0.0.1:${port}` };
});

after(async () => {
  await world.close();
  server.close();
  server.closeAllConnections();
});

const id = '01a1f8ad-cfd8-71d4-91ca-33830ed0a267';
const hostile = '\u001b[2J\u001b]0;paid\u0007\u202e\nevent.succeeded';
const time = '2026-11-20T10:18:00.000Z';
const delivery = {
  id,
  endpoint_id: id,
  callback_url: `https://shop.example/${hostile}`,
  status: 'failed',
  attempts: 1,
  next_attempt_at: null,
  delivered_at: null,
  tries: [{ attempt: 1, sent_at: time, status: 500, failure: null, duration_ms: 10, answer: hostile }],
};
const event = {
  id,
  event: 'charge.succeeded',
  created_at: time,
  test_mode: true,
  sequence: 1,
  request_id: null,
  object_id: id,
  data: {},
  deliveries: [delivery],
};

const commands = [
  ['events', 'tail'],
  ['events', 'show', id],
  ['events', 'resend', '--endpoint', id, '--yes'],
  ['trigger', 'webhook_endpoint.test'],
  ['trigger', 'charge.created'],
  ['trigger', 'customer.created'],
];

test('a response of an unexpected shape ends the command with one sentence and no stack', async () => {
  for (body of [
    'x',
    { data: null },
    { id: { toString: 1, valueOf: 1 } },
    { ...event, object_id: hostile, data: [{ ...event, event: hostile }] },
  ]) {
    for (const end of await Promise.all(commands.map((words) => world.run(words, settings)))) {
      assertSanitized(end);
      assert.equal(end.code, 1);
    }
  }
});

test('a refusal with anything in its members ends a command with a sentence, never with a stack', async () => {
  const odd = { toString: 1, valueOf: 1 };
  const refusals = [
    { message: 'Refused.', code: odd },
    { message: 'Refused.', code: hostile, errors: [null, 7, odd, [], { path: odd, message: odd }] },
    { message: 'Refused.', errors: odd },
    { message: odd, code: 'invalid_request' },
  ];
  status = 400;
  try {
    for (body of refusals) {
      for (const end of await Promise.all(commands.map((words) => world.run(words, settings)))) {
        assertSanitized(end);
        assert.equal(end.code, 1);
      }
    }
  } finally {
    status = 200;
  }
});

test('text from the server cannot send control sequences to the terminal', async () => {
  body = event;
  const ends = await Promise.all(
    [commands[1] ?? [], ['events', 'show', id, '--json']].map((words) => world.run(words, settings)),
  );
  for (const end of ends) assertSanitized(end);
  assert.match(
    ends[0]?.stdout ?? '',
    /500 in 10 ms {2}\[2J\]0;paid event\.succeeded$/m,
    'its answer is one line of text',
  );
  assert.equal(JSON.parse(ends[1]?.stdout ?? '').deliveries[0].tries[0].answer, hostile);
});

/** The same with each of its values, however deep, replaced by others in turn. */
function variations(value: unknown, others: readonly unknown[]): unknown[] {
  if (typeof value !== 'object' || value === null) return [...others];
  const inside = Object.entries(value).flatMap(([name, member]) =>
    variations(member, others).map((other) => (Array.isArray(value) ? [other] : { ...value, [name]: other })),
  );
  return [...others, ...inside];
}

test('an event with malformed fields is refused or printed escaped', () => {
  const output = createOutput(process, { isJson: false, environment: {} });
  let refused = 0;
  for (const variation of variations(event, [null, 'x', hostile, 7, -1, 1e300, [], {}, [null], true])) {
    try {
      const row = readResponse(eventRow, variation);
      assert.match(eventText(output, row).replaceAll(/\n {2,4}\S/g, ''), /^\P{C}*$/u, JSON.stringify(variation));
      eventLine(output, row);
    } catch (error) {
      assert.ok(error instanceof CommandFailure, String(error));
      refused += 1;
    }
  }
  assert.ok(refused > 100);
});

function assertSanitized({ code, stdout, stderr }: CliEnd): void {
  assert.ok(code === 0 || code === 1 || code === 2, String(code));
  assert.doesNotMatch(stderr, /\n\s+at /, 'no stack');
  assert.match(stdout + stderr, /^[\P{C}\n\t]*$/u);
}

test('a resend that ends half way says how many events it has queued, and how to go on with the rest', async () => {
  const pages = [
    [200, { matched: 700, resent: 0, continue_from: time }],
    [200, { matched: 500, resent: 500, continue_from: time }],
    [503, { code: 'unavailable', message: 'The database is not available.' }],
  ] as const;
  let requests = 0;
  onRequest = () => {
    [status, body] = pages[Math.min(requests, pages.length - 1)] ?? [500, {}];
    requests += 1;
  };
  const { code, stdout, stderr } = await world.run(['events', 'resend', '--endpoint', id, '--all', '--yes'], settings);
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, new RegExp(`is not available\\.\\nBefore that 500 events are queued\\. .* --from ${time}\\n`));
});
