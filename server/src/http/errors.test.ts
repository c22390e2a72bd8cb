import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createApiClient, type ApiResponse, type ApiClient } from '../../../test/harness/api-client.ts';
import { effort } from '../../../test/harness/effort.ts';
import { createContractClient, loadContract, type Contract } from '../../../test/harness/openapi.ts';
import { rawHead, sendRaw } from '../../../test/harness/raw-request.ts';
import { startService, type TestBusiness, type TestService } from '../../../test/harness/service.ts';
import { asOwner } from '../../../test/harness/tables.ts';

const unknownId = '01a1f8ac-4b37-7417-9fed-11d78420f713';

// Each route gets some of the ids, its neighbours others: one rule checks them all.
const everyId = effort({ usual: 5, long: 1 });

let service: TestService;
let business: TestBusiness;
let contract: Contract;
let api: ApiClient;
let authorization: string;

before(async () => {
  service = await startService();
  business = await service.onboard();
  contract = await loadContract();
  api = createContractClient(contract, service.url, business.test.key);
  authorization = `Authorization: Bearer ${business.test.key}`;
});
after(() => service.stop());

/** Responses are private to their caller. */
function assertNotCached({ headers }: ApiResponse, why: string): void {
  const cacheHeaders = ['cache-control', 'x-content-type-options'].map((name) => headers.get(name));
  assert.deepEqual(cacheHeaders, ['no-store', 'nosniff'], why);
}

/** Every error response has this shape, whatever failed and however early. */
function assertRefusal(response: ApiResponse, status: number, code: string, why: string): void {
  assert.deepEqual([response.status, response.body['code']], [status, code], `${why}: ${response.text}`);
  const { message, errors, ...rest } = response.body;
  assert.match(String(message), /^[A-Z].*[.?]( 1 more is in errors\.| \d+ more are in errors\.)?$/, why);
  assert.ok(errors === undefined || Array.isArray(errors), why);
  const id = response.headers.get('x-request-id') ?? '';
  assert.match(id, /^req_[0-9A-Za-z]{20}$/, why);
  assert.deepEqual(rest, { statusCode: status, code, request_id: id, doc_url: `${service.url}/errors/${code}` }, why);
  assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8', why);
  assertNotCached(response, why);
}

describe('an address', () => {
  it('that does not exist answers 404 as JSON, with and without a key', async () => {
    const keyless = createApiClient(service.url, '');
    for (const path of [
      '/v1',
      '/v1/',
      '/v2/payments',
      '/v1/nothing',
      '/v1/payments/a/b/c',
      '/V1/payments',
      '/%F0%9F%92%B0',
    ]) {
      assertRefusal(await api.get(path), 404, 'not_found', path);
      assertRefusal(await keyless.get(path), 404, 'not_found', path);
      assertRefusal(await api.post(path, {}), 404, 'not_found', path);
    }
  });

  it('that is malformed answers 404 too', async () => {
    for (const path of [
      '/v1/payments/%',
      '/v1/payments/%zz',
      '/%c0%af',
      `/v1/payments/${'a'.repeat(300)}`,
      `/v1/payments/${'%20'.repeat(300)}`,
    ]) {
      assertRefusal(await sendRaw(service.url, rawHead('GET', path, [authorization])), 404, 'not_found', path);
    }
  });

  it('with a malformed id answers 404, for every route with an id', async () => {
    const ids = [
      'x',
      '0',
      '%20',
      `urn:uuid:${unknownId}`,
      `%7B${unknownId}%7D`,
      unknownId.replaceAll('-', ''),
      `${unknownId}%00`,
    ];
    const more = [
      `${unknownId}'`,
      '..%2f..%2fetc',
      '%00',
      'null',
      'undefined',
      '-1',
      '00000000-0000-0000-0000-00000000000g',
    ];
    const routes = contract.operations.filter(({ path }) => path.includes('{id}'));
    assert.ok(routes.length >= 8);
    const headers = { 'content-type': 'application/json' };
    for (const [position, { method, path, operationId, body }] of routes.entries()) {
      for (const id of [...ids, ...more].filter((_, index) => (position + index) % everyId === 0)) {
        const response = await api.send(method, path.replace('{id}', id), body === null ? {} : { body: '{}', headers });
        assertRefusal(response, 404, 'not_found', `${operationId} of ${id}`);
      }
    }
  });

  it('with a malformed public token shows the error page for 404', async () => {
    const created = await api.post('/v1/payments', { data: { amount: 10 } });
    const { pathname } = new URL(String(created.body['payment_link']));
    const visitor = createApiClient(service.url, '');
    assert.equal((await visitor.get(pathname)).status, 200);
    for (const end of ['%00', '%0a', "'", '%22', '%F0%9F%92%B0', '-', '_']) {
      const path = pathname.slice(0, -1) + end;
      for (const page of [path, `${path}/cancel`, `${path}/status`])
        assert.equal((await visitor.get(page)).status, 404, page);
    }
  });

  it('answers 405 and lists the allowed methods for any other method', async () => {
    const paths = new Set(contract.operations.map(({ path }) => path));
    for (const path of paths) {
      const usedMethods = contract.operations
        .filter((operation) => operation.path === path)
        .map(({ method }) => method);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter(
        (candidate) => !usedMethods.includes(candidate),
      )) {
        // Not by fetch, which refuses to send TRACE.
        const response = await sendRaw(service.url, rawHead(method, path.replace('{id}', unknownId), [authorization]));
        assertRefusal(response, 405, 'method_not_allowed', `${method} ${path}`);
        assert.deepEqual(response.headers.get('allow')?.split(', ').toSorted(), usedMethods.toSorted(), path);
      }
    }
    const keyless = createApiClient(service.url, '');
    assertRefusal(await keyless.send('DELETE', '/v1/payments'), 401, 'api_key_invalid', 'without a key');
  });

  it('answers unusual methods without an internal error', async () => {
    for (const method of ['OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH', 'LOCK', 'PURGE']) {
      const response = await sendRaw(service.url, rawHead(method, '/v1/payments', [authorization]));
      assertRefusal(response, 405, 'method_not_allowed', method);
      assert.equal(response.headers.get('allow'), 'GET, POST', method);
      const unknown = await sendRaw(service.url, rawHead(method, '/v1/no-such-path', [authorization]));
      assertRefusal(unknown, 404, 'not_found', method);
    }
    // One without a content type is refused before any route: RFC 10008, section 2.
    const query = await sendRaw(service.url, rawHead('QUERY', '/v1/payments', [authorization]));
    assertRefusal(query, 415, 'unsupported_media_type', 'QUERY');
  });
});

describe('an unreadable request', () => {
  it('without a body is refused where the document requires one, and only there', async () => {
    const missing = 'The body is missing. Send JSON.';
    const withBody = contract.operations.filter(({ body }) => body !== null);
    assert.ok(withBody.some(({ isBodyRequired }) => isBodyRequired) && withBody.some((each) => !each.isBodyRequired));
    for (const { operationId, method, path, isBodyRequired } of withBody) {
      const { status, body } = await api.send(method, path.replace('{id}', unknownId));
      assert.equal(status === 400 && body['message'] === missing, isBodyRequired, operationId);
    }
  });

  it('with header fields larger than 16 kB answers 431', async () => {
    const response = await sendRaw(
      service.url,
      rawHead('GET', '/v1/payments', [authorization, `X-Big: ${'a'.repeat(16_400)}`]),
    );
    assertRefusal(response, 431, 'headers_too_large', 'one large field');
    const many = Array.from({ length: 1_200 }, (_, position) => `X-Field-${position}: 12345`);
    const refused = await sendRaw(service.url, rawHead('GET', '/v1/payments', [authorization, ...many]));
    assertRefusal(refused, 431, 'headers_too_large', 'many fields');
    const fitting = await sendRaw(
      service.url,
      rawHead('GET', '/v1/payments', [authorization, `X-Big: ${'a'.repeat(15_000)}`]),
    );
    assert.equal(fitting.status, 200);
    assertNotCached(fitting, 'a successful response');
  });

  it('with a compressed body answers 415', async () => {
    const send = (encoding: string) =>
      api.send('POST', '/v1/payments', {
        body: '{"data":{"amount":10}}',
        headers: { 'content-type': 'application/json', 'content-encoding': encoding },
      });
    for (const encoding of ['gzip', 'br', 'identity, gzip', 'nonsense']) {
      assertRefusal(await send(encoding), 415, 'unsupported_media_type', encoding);
    }
    assert.equal((await send('identity')).status, 201);
  });

  it('with several errors is refused for the first: code and message describe the same one', async () => {
    const unknownFirst = await api.post('/v1/payments', { data: { amount: 'ten', colour: 'red' } });
    const [fault] = unknownFirst.body['errors'] as { message: string }[];
    assert.ok(String(unknownFirst.body['message']).startsWith(String(fault?.message)), unknownFirst.text);
    assert.match(String(unknownFirst.body['message']), / 1 more is in errors\.$/);
    const isUnknown = /is not a known field/.test(String(fault?.message));
    assert.equal(unknownFirst.body['code'], isUnknown ? 'unknown_field' : 'invalid_request');
  });

  it('with a field that has none of its allowed values is refused once, whatever the type', async () => {
    const message = 'status must be active or inactive.';
    for (const status of [null, 5, 'x', {}]) {
      const body = JSON.stringify({ status });
      const headers = { 'content-type': 'application/json' };
      const refused = await api.send('PUT', `/v1/payment-links/${unknownId}`, { body, headers });
      assert.deepEqual(
        [refused.body['code'], refused.body['message'], refused.body['errors']],
        ['invalid_request', message, [{ path: 'status', message }]],
        body,
      );
    }
  });

  it('with two Authorization headers answers 400, whatever keys they hold', async () => {
    const other = await service.onboard('Serekunda Shoes');
    for (const keys of [
      [business.test.key, business.test.key],
      [business.test.key, other.test.key],
      ['nonsense', business.test.key],
      [business.test.key, ''],
    ]) {
      const headers = keys.map(
        (key, position) => `${position === 0 ? 'Authorization' : 'aUTHORIZATION'}: Bearer ${key}`,
      );
      const response = await sendRaw(service.url, rawHead('GET', '/v1/payments', headers));
      assert.deepEqual([response.status, response.body['code']], [400, 'invalid_request'], response.text);
      assert.match(String(response.body['message']), /one Authorization header/);
    }
  });

  it('that is not HTTP answers 400', async () => {
    const head = `Host: localhost\r\n${authorization}`;
    const nonsense = {
      'another protocol': 'GARBAGE\r\n\r\n',
      'two lengths': `POST /v1/payments HTTP/1.1\r\n${head}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
      'a length and chunks': `POST /v1/payments HTTP/1.1\r\n${head}\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'a length that is none': `POST /v1/payments HTTP/1.1\r\n${head}\r\nContent-Length: -1\r\n\r\n`,
      'a folded field': `GET /v1/payments HTTP/1.1\r\n${head}\r\nX-A: b\r\n c\0\r\n\r\n`,
    };
    for (const [why, text] of Object.entries(nonsense)) {
      assertRefusal(await sendRaw(service.url, text), 400, 'invalid_request', why);
    }
  });
});

describe('a request id', () => {
  it('is unique per request, appears in its log line, and never comes from the caller', async () => {
    const responses: ApiResponse[] = [];
    for (const path of ['/v1/payments', `/v1/payments/${unknownId}`, '/healthz', '/readyz', '/metrics', '/nothing']) {
      responses.push(
        await createApiClient(service.url, business.test.key).send('GET', path, {
          headers: { 'x-request-id': 'req_mine' },
        }),
      );
    }
    const ids = responses.map(({ headers }) => headers.get('x-request-id') ?? 'none');
    assert.equal(new Set(ids).size, responses.length);
    for (const id of ids) {
      assert.match(id, /^req_[0-9A-Za-z]{20}$/);
      const lines = service.logLines.map((line) => JSON.parse(line)).filter((line) => line.request_id === id);
      assert.equal(lines.filter((line) => line.msg === 'request').length, 1, id);
    }
  });
});

describe('a log line', () => {
  it('is written at info for a request, at debug for calls to the simulated networks', async () => {
    for (const path of ['/healthz', '/simulator/networks/gsma/heartbeat']) {
      await fetch(new URL(path, service.url));
    }
    const levelOf = (route: string) =>
      service.logLines.map((line) => JSON.parse(line)).find((line) => line.msg === 'request' && line.route === route)
        ?.level;
    assert.equal(levelOf('/healthz'), 'info');
    assert.equal(levelOf('/simulator/networks/gsma/heartbeat'), 'debug');
  });
});

describe('an internal error', () => {
  it('answers 500 without internal details, and is logged with its request id', async () => {
    await asOwner(service, 'ALTER TABLE payment_intents ADD CONSTRAINT broken_on_purpose CHECK (false) NOT VALID');
    const data = { amount: 10, title: 'A title of the payer', customer_phone: '+220 701 2345' };
    const broken = await api.post('/v1/payments', { data });
    await asOwner(service, 'ALTER TABLE payment_intents DROP CONSTRAINT broken_on_purpose');
    assertRefusal(broken, 500, 'internal_error', 'a broken constraint');
    assert.doesNotMatch(
      broken.text,
      /payment_intents|broken_on_purpose|constraint|column|postgres|stack|\.ts|node_modules/i,
    );
    const lines = service.logLines.filter((line) => line.includes(String(broken.body['request_id'])));
    const failure = lines.find((line) => line.includes('"level":"error"'));
    assert.ok(failure?.includes('broken_on_purpose'), 'the operator learns what broke');
    for (const line of lines) assert.ok(!/A title of the payer|701 ?2345/.test(line), line);
    assert.equal((await api.post('/v1/payments', { data })).status, 201);
  });

  it('in a list does not end the process, although two statements fail at once', async () => {
    for (const [table, path] of [
      ['payment_intents', '/v1/payments'],
      ['charges', '/v1/transactions'],
    ]) {
      await asOwner(service, `ALTER TABLE ${table} RENAME COLUMN created_at TO hidden`);
      const broken = await api.get(`${path}?term=a`);
      await asOwner(service, `ALTER TABLE ${table} RENAME COLUMN hidden TO created_at`);
      assertRefusal(broken, 500, 'internal_error', String(path));
      assert.equal((await api.get(`${path}?term=a`)).status, 200);
    }
  });
});
