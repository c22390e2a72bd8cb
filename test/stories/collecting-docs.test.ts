import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createApiClient } from '../harness/api-client.ts';
import { curlLines, runCurlLine, withoutRandomValues } from '../harness/curl-lines.ts';
import { startService, type TestService } from '../harness/service.ts';

// Runs the curl lines of the pages on links and counters, and compares the responses with the pages.

let service: TestService;

before(async () => {
  service = await startService();
});
after(() => service.stop());

for (const { page, lines, path } of [
  { page: 'payment-links.md', lines: 6, path: '/v1/payment-links' },
  { page: 'virtual-terminals.md', lines: 8, path: '/v1/virtual-terminals' },
]) {
  test(`every curl line of ${page} works, and returns what the page shows`, async () => {
    const { key } = (await service.onboard()).test;
    const text = readFileSync(join(import.meta.dirname, '../../docs', page), 'utf8');
    const all = curlLines(text);
    assert.equal(all.length, lines);
    let id = '';
    for (const { command, response: shown } of all) {
      const response = await runCurlLine(service.url, command, { KEY: key, LINK: id, TERMINAL: id });
      assert.ok(response.status < 300, `${command} answers ${response.text}`);
      if (shown !== null) assert.deepEqual(withoutRandomValues(response.body), withoutRandomValues(shown), command);
      if (id === '') id = String(response.body['id']);
    }
    const { status } = await createApiClient(service.url, key).get(`${path}/${id}`);
    assert.equal(status, 404, 'the last line deletes it');
  });
}
