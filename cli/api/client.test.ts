import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../server/src/kit/clock.ts';
import { ApiUnavailable, createApi } from './client.ts';

let url: string;
let body: string;
const server = createServer((_request, response) => {
  response.writeHead(502, { 'content-type': 'application/json' }).end(body);
});

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

after(() => {
  server.close();
  server.closeAllConnections();
});

test('the error page of a proxy is not taken for a response of the service, even as JSON', async () => {
  const settings = { url, key: 'sk_test_', testMode: true, keySource: 'the test', demoWebhookSecret: null };
  const api = createApi(systemClock, settings);
  for (body of ['', '<html>Bad Gateway</html>', '{"message":"cut o', 'null', '"Bad Gateway"', '[]']) {
    await assert.rejects(api.get('/v1/events'), (error) => {
      assert.ok(error instanceof ApiUnavailable, String(error));
      assert.match(error.message, /responded with 502, but not as this service does/);
      return true;
    });
  }
});
