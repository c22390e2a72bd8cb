import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { addMs } from '../../server/src/kit/clock.ts';
import { eventBody } from '../../server/src/webhooks/envelope.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import { causes, type CauseName } from './causes.ts';
import { diagnose, type DiagnosedRequest } from './diagnose.ts';

const header = 'x-service-signature';
const sentAt = new Date('2026-11-20T10:18:00.000Z');
const id = '01a1f8ad-cfd8-71d4-91ca-33830ed0a267';
const secret = secretOf(7);
const otherSecret = secretOf(9);

function secretOf(byte: number): string {
  return `wh_${Buffer.alloc(32, byte).toString('base64')}`;
}

const record = {
  id: 'c1',
  name: 'Ŋañ 🙂',
  amount: 450.5,
  url: 'https://shop.gm/<a>&b',
  at: 1,
  é: [1, { z: 2, a: null }],
};
const body = eventBody({
  id,
  kind: 'charge.succeeded',
  createdAt: sentAt,
  testMode: true,
  sequence: 2n,
  requestId: 'req_1',
  recordText: JSON.stringify(record),
});

type Secrets = Parameters<typeof signatureHeaders>[1];
const onlySecret = { current: secret, previous: null };

/** A delivery as it was sent, received at once with the right secret. */
function delivery(secrets: Secrets = onlySecret, sent = body): DiagnosedRequest {
  const headers = new Map(Object.entries(signatureHeaders({ id, sentAt, body: sent }, secrets, header)));
  return { body: sent, headers, secret, otherSecrets: [], serviceHeader: header, receivedAt: sentAt };
}

function withHeaders(changes: Record<string, string | null>, request = delivery()): DiagnosedRequest {
  const headers = new Map(request.headers);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) headers.delete(name);
    else headers.set(name, value);
  }
  return { ...request, headers };
}

function withBody(changed: string | Buffer, request = delivery()): DiagnosedRequest {
  return { ...request, body: Buffer.from(changed) };
}

/** A service signature as somebody may have made it. */
function serviceOnly(value: string): DiagnosedRequest {
  return withHeaders({ [header]: value, 'webhook-signature': null });
}

function standardOnly(value: string, changes: Record<string, string | null> = {}): DiagnosedRequest {
  return withHeaders({ [header]: null, 'webhook-signature': value, ...changes });
}

const timestamp = String(sentAt.getTime() / 1_000);
const bare = secret.slice('wh_'.length);
const key = Buffer.from(bare, 'base64');
const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
const hmac = (algorithm: string, secretKey: string | Buffer, bytes: Uint8Array) =>
  createHmac(algorithm, secretKey).update(bytes).digest();
const service = hmac('sha512', secret, body).toString('hex');
const standard = hmac('sha256', key, signed).toString('base64');

const parsed = JSON.parse(body.toString()) as Record<string, unknown>;
const escaped = (text: string): string =>
  text.replace(/[^\n\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
const { data, payload, ...head } = parsed;

/** What went wrong, the request, and the causes of each header in it. */
type Row = [what: string, request: DiagnosedRequest, ...causes: CauseName[][]];

const both = (cause: CauseName): [CauseName[], CauseName[]] => [[cause], [cause]];

const rows: Row[] = [
  ['neither header', withHeaders({ [header]: null, 'webhook-signature': null }), ['header_missing']],
  ['an empty signature', serviceOnly(''), ['header_missing']],
  ['an empty standard signature', standardOnly(' '), ['header_missing']],
  ['SHA-256', serviceOnly(hmac('sha256', secret, body).toString('hex')), ['sha256_for_sha512']],
  ['SHA-512', standardOnly(`v1,${hmac('sha512', key, signed).toString('base64')}`), ['sha512_for_sha256']],
  ['base64', serviceOnly(hmac('sha512', secret, body).toString('base64')), ['base64_for_hex']],
  ['hex', standardOnly(`v1,${hmac('sha256', key, signed).toString('hex')}`), ['hex_for_base64']],
  ['no version', standardOnly(standard), ['version_missing']],
  ['a key without wh_', serviceOnly(hmac('sha512', bare, body).toString('hex')), ['key_not_whole']],
  ['a decoded key', serviceOnly(hmac('sha512', key, body).toString('hex')), ['key_not_whole']],
  ['a key as text', standardOnly(`v1,${hmac('sha256', bare, signed).toString('base64')}`), ['key_not_decoded']],
  ['a key with wh_', standardOnly(`v1,${hmac('sha256', secret, signed).toString('base64')}`), ['key_not_decoded']],
  ['the body alone', standardOnly(`v1,${hmac('sha256', key, body).toString('base64')}`), ['only_the_body_signed']],
  ['a secret without wh_', { ...serviceOnly(service), secret: bare }, ['secret_without_prefix']],
  ['a line end in the secret', { ...delivery(), secret: `${secret}\n` }, ['secret_padded'], []],
  ['quotes around the secret', { ...serviceOnly(service), secret: `"${secret}"` }, ['secret_padded']],
  ['half a secret', { ...delivery(), secret: secret.slice(0, 20) }, ...both('secret_malformed')],
  ['an empty key', serviceOnly(hmac('sha512', '', body).toString('hex')), ['empty_secret']],
  ['an empty standard key', standardOnly(`v1,${hmac('sha256', '', signed).toString('base64')}`), ['empty_secret']],
  ['a secret of nobody', delivery({ current: otherSecret, previous: null }), ...both('wrong_secret')],
  [
    'another endpoint’s secret',
    { ...delivery({ current: otherSecret, previous: null }), otherSecrets: [{ name: 'till', secret: otherSecret }] },
    ...both('other_secret'),
  ],
  ['the new secret of a rotation', delivery({ current: secret, previous: otherSecret }), ['previous_secret'], []],
  [
    'the new secret of a rotation, beside the old one',
    {
      ...delivery({ current: secret, previous: otherSecret }),
      otherSecrets: [{ name: 'before', secret: otherSecret }],
    },
    ['previous_secret'],
    [],
  ],
  ['a line end more', withBody(`${body.toString()}\n`), ...both('line_end_added')],
  ['a CRLF more', withBody(`${body.toString()}\r\n`), ...both('line_end_added')],
  ['other spaces', withBody(JSON.stringify(parsed, null, 2)), ...both('rewritten')],
  ['escapes', withBody(escaped(body.toString())), ...both('rewritten')],
  ['escaped slashes', withBody(body.toString().replaceAll('/', '\\/')), ...both('rewritten')],
  [
    'spaces, escapes and order',
    withBody(escaped(JSON.stringify({ data, payload, ...head }, null, 1))),
    ...both('rewritten'),
  ],
  ['longer numbers', withBody(body.toString().replaceAll('450.5', '450.50')), ...both('rewritten')],
  ['no body', withBody(''), ...both('body_lost')],
  ['the name of an object', withBody('[object Object]'), ...both('body_lost')],
  ['an empty object', withBody('{}'), ...both('body_lost')],
  ['no timestamp', withHeaders({ 'webhook-timestamp': null }), [], ['timestamp_missing']],
  ['milliseconds', withHeaders({ 'webhook-timestamp': `${timestamp}000` }), [], ['timestamp_missing']],
  ['an old timestamp', { ...delivery(), receivedAt: addMs(sentAt, 301_000) }, [], ['timestamp_old']],
  ['a timestamp to come', { ...delivery(), receivedAt: addMs(sentAt, -301_000) }, [], ['timestamp_future']],
];

describe('the diagnosis of a signature', () => {
  it('finds no fault in a good delivery, under either rotated secret, or at five minutes’ age', () => {
    const good = [
      delivery(),
      delivery({ current: otherSecret, previous: secret }),
      { ...delivery(), receivedAt: addMs(sentAt, 300_000) },
      { ...delivery(), receivedAt: addMs(sentAt, -300_000) },
      serviceOnly(service),
      standardOnly(`v1,${standard}`),
      {
        ...delivery(),
        otherSecrets: [
          { name: 'till', secret: otherSecret },
          { name: 'same', secret },
        ],
      },
    ];
    for (const request of good) assert.deepEqual(verdictsOf(request).flat(), []);
  });

  for (const [what, request, ...expected] of rows) {
    it(`names the one cause: ${what}`, () => {
      assert.deepEqual(verdictsOf(request), expected);
    });
  }

  it('has a row for every cause', () => {
    const tried = new Set(rows.flatMap(([, , ...expected]) => expected.flat()));
    assert.deepEqual([...tried].toSorted(), Object.keys(causes).toSorted());
  });

  it('takes the headers of another event, another order of names and a cut body for other bytes', () => {
    const otherBytes = [
      withHeaders({ 'webhook-id': `${id}0`, [header]: null }),
      withBody(JSON.stringify({ payload, data, ...head }), serviceOnly(service)),
      withBody(body.subarray(0, 200), serviceOnly(service)),
    ];
    for (const request of otherBytes) assert.deepEqual(verdictsOf(request), [['wrong_secret']]);
  });

  it('names the other secret', () => {
    const request = delivery({ current: otherSecret, previous: null });
    const [diagnosis] = diagnose({ ...request, otherSecrets: [{ name: 'till', secret: otherSecret }] });
    assert.equal(diagnosis?.causes[0]?.detail, 'till.');
  });

  it('ends in time for the largest bodies', () => {
    const large = Buffer.from(JSON.stringify({ id, note: 'ñ'.repeat(400_000) }));
    assert.deepEqual(verdictsOf({ ...delivery({ current: otherSecret, previous: null }, large) }), [
      ['wrong_secret'],
      ['wrong_secret'],
    ]);
  });
});

function verdictsOf(request: DiagnosedRequest): CauseName[][] {
  return diagnose(request).map(({ causes: found, verifies }) => {
    assert.equal(verifies, found.length === 0);
    return found.map(({ cause }) => cause);
  });
}
