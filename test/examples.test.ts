import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { systemClock, addMs } from '../server/src/kit/clock.ts';
import { errorCode } from '../server/src/kit/start-error.ts';
import { eventBody } from '../server/src/webhooks/envelope.ts';
import { signatureHeaders } from '../server/src/webhooks/signature.ts';
import {
  createExampleWorld,
  availableLanguages,
  type ExampleReceiver,
  type ExampleSettings,
} from './harness/example-receivers.ts';
import { eventually } from './harness/eventually.ts';

const world = createExampleWorld();
after(world.close);

const secret = secretOf(7);
const otherSecret = secretOf(9);
const serviceHeader = 'x-service-signature';

function secretOf(byte: number): string {
  return `wh_${Buffer.alloc(32, byte).toString('base64')}`;
}

function idOf(number: number): string {
  return `01a1f8ad-0000-7000-8000-${String(number).padStart(12, '0')}`;
}

let eventCount = 0;

/** The bytes as the service sends them. */
function makeEvent(record: string, sequence = 1n, eventId = idOf((eventCount += 1))) {
  const createdAt = new Date('2026-11-20T10:18:00.000Z');
  const kind = 'charge.succeeded';
  return {
    id: eventId,
    body: eventBody({ id: eventId, kind, createdAt, testMode: true, sequence, requestId: null, recordText: record }),
  };
}

type TestEvent = ReturnType<typeof makeEvent>;
type Headers = Record<string, string>;
type Secrets = Parameters<typeof signatureHeaders>[1];

const onlySecret = { current: secret, previous: null };

function sign({ id, body }: TestEvent, secrets: Secrets = onlySecret, ageSeconds = 0): Headers {
  const sentAt = addMs(systemClock.now(), -1_000 * ageSeconds);
  return signatureHeaders({ id, sentAt, body }, secrets, serviceHeader);
}

async function post({ url }: ExampleReceiver, body: Uint8Array, headers: Headers): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { ...headers, 'content-type': 'application/json' },
  });
  await response.arrayBuffer();
  return response.status;
}

/** The code of the error behind one of `fetch`. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error ? (errorCode(cause) ?? cause.message) : String(error);
}

/** What one receiver, shared by the tests, printed from now on for each event that it accepted. */
function listenTo(receiver: ExampleReceiver): () => (string | undefined)[] {
  const outcomes = () => [...receiver.printed().matchAll(/charge\.succeeded \S+: (handled \(record outdated\)|\w+)/g)];
  const before = outcomes().length;
  return () =>
    outcomes()
      .slice(before)
      .map(([, word]) => word);
}

/** Bodies that a re-serialising JSON parser, or a careless reader of bytes, would change. */
const records = [
  '{"id":"a","amount":450.50,"name":"Ŋañ 🙂 \\u00e9 \\/","big":9007199254740993,"tiny":1e-7}',
  `{"id":"b","digits":123456789012345678901234567890.10,"2":1,"1":2,"text":"<&>\\u2028\\n\\u0000 'x' \\\\ \\""}`,
  '{ "id" : "c" ,\r\n\t"note" : "ﷺ ‮ \u{10FFFF}" }\n',
  `{"id":"d","metadata":{"note":"${'Jërëjëf '.repeat(12_000)}"}}`,
];

async function statusesOf<Item>(items: readonly Item[], statusOf: (item: Item) => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  const step = 8;
  for (let start = 0; start < items.length; start += step) {
    statuses.push(...(await Promise.all(items.slice(start, start + step).map(statusOf))));
  }
  return statuses;
}

/** Every change of one byte of a header's value that HTTP allows. */
function mutationsOf(text: string): string[] {
  return text.split('').flatMap((character, index) => {
    const code = character.charCodeAt(0);
    const others = [code ^ 1, ...(/[A-Za-z]/.test(character) ? [code ^ 32] : [])];
    return others.map((other) => text.slice(0, index) + String.fromCharCode(other) + text.slice(index + 1));
  });
}

function bodyMutations(body: Buffer): Buffer<ArrayBuffer>[] {
  return Array.from(body, (byte, index) => {
    const mutated = Buffer.from(body);
    mutated[index] = byte ^ 1;
    return mutated;
  });
}

const { present, absent } = availableLanguages();

test('the examples run on this machine, at least the TypeScript one', (context) => {
  assert.ok(present.includes('TypeScript'));
  for (const language of absent) context.diagnostic(`${language} is not installed, so its example was not run.`);
});

test('the examples compare each signature in constant time', () => {
  const comparisons = [
    ['ts', /\btimingSafeEqual\(|\bisEqual\(/g, 4],
    ['php', /\bhash_equals\(/g, 2],
    ['py', /\bhmac\.compare_digest\(/g, 2],
    ['go', /\bhmac\.Equal\(/g, 2],
  ] as const;
  for (const [ending, comparison, count] of comparisons) {
    const text = readFileSync(join(import.meta.dirname, `../examples/receiver.${ending}`), 'utf8');
    assert.equal(text.match(comparison)?.length, count, ending);
    assert.doesNotMatch(
      text,
      /(signature|expected)\w*\)? *={2,3}(?!.*'service'|.*"service")/i,
      `${ending} compares a signature by ==`,
    );
  }
});

for (const language of present) {
  for (const signature of ['standard', 'service'] as const) {
    describe(`the ${language} example, verifying the ${signature} signature`, () => {
      const start = (settings: Partial<ExampleSettings> = {}) =>
        world.start(language, { secret, signature, ...settings });
      let receiver: ExampleReceiver;

      before(async () => {
        receiver = await start();
      });

      it('accepts every signed delivery, whatever its content', async () => {
        const outcomes = listenTo(receiver);
        const statuses = await statusesOf(records, async (record) => {
          const event = makeEvent(record);
          return post(receiver, event.body, sign(event));
        });
        assert.deepEqual(new Set(statuses), new Set([204]));
        await eventually('each was handled', () => outcomes().length === records.length);
        assert.deepEqual(new Set(outcomes()), new Set(['handled']));
      });

      it('accepts the old secret during a rotation, and the new one if its header has it', async () => {
        const rotating = { current: otherSecret, previous: secret };
        const event = makeEvent(records[0] ?? '');
        assert.equal(await post(receiver, event.body, sign(event, rotating)), 204);
        const withNewSecret = await start({ secret: otherSecret });
        const expected = signature === 'standard' ? 204 : 401;
        assert.equal(await post(withNewSecret, event.body, sign(event, rotating)), expected);
        assert.equal(await post(withNewSecret, event.body, sign(event, { current: otherSecret, previous: null })), 204);
      });

      it('refuses a delivery with any changed byte', async () => {
        const outcomes = listenTo(receiver);
        const event = makeEvent((records[0] ?? '').replace('"a"', '"changed"'));
        const headers = sign(event);
        const signed =
          signature === 'standard' ? ['webhook-id', 'webhook-timestamp', 'webhook-signature'] : [serviceHeader];
        const all = [
          ...bodyMutations(event.body).map((body) => ({ body, headers })),
          ...signed.flatMap((name) =>
            mutationsOf(headers[name] ?? '').map((value) => ({
              body: event.body,
              headers: { ...headers, [name]: value },
            })),
          ),
        ];
        const bytes = event.body.length + signed.reduce((sum, name) => sum + (headers[name] ?? '').length, 0);
        assert.ok(bytes > 400 && all.length >= bytes, 'each byte has its turn');
        const statuses = await statusesOf(all, ({ body, headers: changed }) => post(receiver, body, changed));
        assert.deepEqual(new Set(statuses), new Set([401]));
        assert.equal(await post(receiver, event.body, headers), 204, 'and takes the one that nobody changed');
        await eventually('something was handled', () => outcomes().length > 0);
        assert.deepEqual(outcomes(), ['handled']);
      });

      it('refuses an unsigned, partial, oversized, foreign or truncated delivery', async () => {
        const event = makeEvent(records[0] ?? '');
        const headers = sign(event);
        const name = signature === 'standard' ? 'webhook-signature' : serviceHeader;
        const { [name]: value = '', ...others } = headers;
        const cases: [string, Uint8Array, Headers, number][] = [
          ['no header', event.body, others, 401],
          ['an empty header', event.body, { ...others, [name]: '' }, 401],
          ['half of the header', event.body, { ...others, [name]: value.slice(0, 40) }, 401],
          ['another secret', event.body, sign(event, { current: otherSecret, previous: null }), 401],
          ['an empty body', Buffer.alloc(0), headers, 401],
          ['a body that was cut', event.body.subarray(0, -1), headers, 401],
          ['a body with a line end more', Buffer.concat([event.body, Buffer.from('\n')]), headers, 401],
        ];
        for (const [fault, body, sent, status] of cases) assert.equal(await post(receiver, body, sent), status, fault);
        // It is refused before it is read, so the connection ends amid the request, and the response can be lost with it.
        const tooLong = await post(receiver, Buffer.alloc(1024 * 1024 + 1, ' '), headers).catch(causeOf);
        assert.ok([413, 'EPIPE', 'ECONNRESET'].includes(tooLong), `a body that is too long: ${tooLong}`);
        const { status } = await fetch(receiver.url);
        assert.ok([405, 501].includes(status), 'a request that is no POST');
      });

      it('handles an event once; one that arrives late keeps the newer record', async () => {
        const outcomes = listenTo(receiver);
        const [first, second] = [makeEvent('{"id":"p"}', 1n), makeEvent('{"id":"p"}', 2n)];
        for (const event of [second, second, first, makeEvent('{"id":"q"}', 1n)]) {
          assert.equal(await post(receiver, event.body, sign(event)), 204);
        }
        await eventually('each was looked at', () => outcomes().length === 4);
        assert.deepEqual(outcomes(), ['handled', 'repeated', 'handled (record outdated)', 'handled']);
      });

      if (signature === 'standard') {
        it('refuses a timestamp more than five minutes in the past or future', async () => {
          const event = makeEvent(records[0] ?? '');
          // A busy machine may take most of a minute between signing and verifying.
          const statuses = await statusesOf([301, -360, 240, -299], (age) =>
            post(receiver, event.body, sign(event, undefined, age)),
          );
          assert.deepEqual(statuses, [401, 401, 204, 204]);
        });
      }
    });
  }

  test(`the ${language} example does not start without the whole secret`, async () => {
    const cut = [undefined, '', ' ', 'wh_', 'wh_c2hvcnQ=', secret.slice(3), `${secret}\n`, `WH_${secret.slice(3)}`];
    for (const secretValue of cut) {
      const program = await world.launch(language, secretValue === undefined ? {} : { secret: secretValue });
      const { code } = await program.ended;
      assert.ok(code !== 0 && code !== null, `it started with ${JSON.stringify(secretValue)}`);
      assert.match(program.stdout() + program.stderr(), /secret is not set/);
    }
  });
}

for (const language of availableLanguages().present.filter((present) => present !== 'Go')) {
  test(`the ${language} shop says that something went wrong while Dalasi cannot be reached`, async () => {
    // Port 9 (discard) refuses connections.
    const shop = await world.startShop(language, { secret, key: 'sk_test_x', dalasiUrl: 'http://127.0.0.1:9' });
    const response = await fetch(`${shop.url}/orders`, { method: 'POST', redirect: 'manual' });
    assert.equal(response.status, 500, shop.printed());
    assert.match(await response.text(), /do not pay again/);
  });
}
