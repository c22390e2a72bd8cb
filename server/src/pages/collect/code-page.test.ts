import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient } from '../../../../test/harness/api-client.ts';
import { startService, type TestService } from '../../../../test/harness/service.ts';

let service: TestService;
/** The counter's code as on its poster, in two groups, and its check. */
let code: string;
let groups: [string, string];
let check: string;

before(async () => {
  service = await startService();
  const api = createApiClient(service.url, (await service.onboard()).test.key);
  const { body } = await api.post('/v1/virtual-terminals', { name: 'Front desk', chat_numbers: ['7012345'] });
  code = String(body['code']);
  groups = [code.slice(0, 3), code.slice(3)];
  check = String(body['qr_code_url']).slice(-4);
});
after(() => service.stop());

const open = (path: string) => fetch(service.url + path, { redirect: 'manual' });

test('every spelling of a code opens the counter, and asks to confirm it', async () => {
  for (const spelling of [code, ...['%20', '-', '+', '.', '%C2%A0', '%E2%80%93'].map((gap) => groups.join(gap))]) {
    const response = await open(`/pos/${spelling}`);
    const text = await response.text();
    assert.equal(response.status, 200, spelling);
    assert.match(text, /Front desk/);
    assert.ok(text.includes(`href="/pos/${code}?counter=right"`), spelling);
  }
});

test('every spelling of a code with its check opens the counter’s form, for its canonical path', async () => {
  for (const gap of ['', '-', '%20', '%20-%20']) {
    for (const letters of [check, check.toLowerCase()]) {
      const response = await open(`/pos/${groups.join('%20')}${gap}${letters}`);
      assert.equal(response.status, 200, gap);
      assert.ok((await response.text()).includes(`action="/pos/${code}-${check}"`), gap);
    }
  }
});

test('/pos asks for the code, with the numeric keyboard and without scripts', async () => {
  for (const path of ['/pos', '/pos/']) {
    const response = await open(path);
    const text = await response.text();
    assert.equal(response.status, 200);
    assert.match(text, /<form action="\/pos">[\s\S]*<input id="code" name="code" type="text" inputmode="numeric"/);
    assert.doesNotMatch(text, /<script|class="error"/);
  }
});

test('a typed code redirects to its counter, with and without the check', async () => {
  for (const [typed, path] of [
    [groups.join('+'), `/pos/${code}`],
    [code, `/pos/${code}`],
    [`${groups.join('+')}-${check.toLowerCase()}`, `/pos/${code}-${check}`],
    [`+${code}${check}+`, `/pos/${code}-${check}`],
  ] as const) {
    const response = await open(`/pos?code=${typed}`);
    assert.deepEqual([response.status, response.headers.get('location')], [303, path], typed);
    assert.equal((await open(path)).status, 200);
  }
});

test('a code that opens nothing is refused beside the field, which keeps it', async () => {
  const wrongCheck = `${code}-${check === 'AAAA' ? 'BBBB' : 'AAAA'}`;
  for (const [typed, status] of [
    ['999 9999', 404],
    [wrongCheck, 404],
    ['', 400],
    ['744 440', 400],
    ['"><script>alert(1)</script>', 400],
    ['\u202e1234567890\u0000', 400],
  ] as const) {
    const response = await open(`/pos?code=${encodeURIComponent(typed)}`);
    const text = await response.text();
    assert.equal(response.status, status, typed);
    assert.match(text, /id="code-error"[\s\S]*No counter has this code/);
    assert.match(text, /aria-invalid="true" aria-describedby="code-error code-hint"/);
    assert.doesNotMatch(text, /<script/);
    if (status === 404) {
      assert.ok(text.includes(`value="${typed}"`), typed);
      assert.ok(text.includes(`href="?code=${typed.replace(' ', '+')}&amp;lang=fr"`), 'also in another language');
    }
  }
  assert.equal((await open(`/pos?code=${code}&code=${code}`)).status, 400);
});

test('an address with an unknown code shows the code in the form, with the error beside it', async () => {
  const wrongCheck = `${code}-${check === 'AAAA' ? 'BBBB' : 'AAAA'}`;
  for (const [path, typed] of [
    ['9999999', '9999999'],
    [wrongCheck, wrongCheck],
    ['999%209999', '999 9999'],
    ['12', '12'],
    ['%3Cscript%3E', '&lt;script&gt;'],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      const headers = { 'sec-fetch-site': 'same-origin' };
      const response = await fetch(`${service.url}/pos/${path}`, { method, redirect: 'manual', headers });
      const text = await response.text();
      assert.equal(response.status, 404, path);
      assert.match(text, /<form action="\/pos">[\s\S]*id="code-error"[\s\S]*No counter has this code/);
      assert.ok(text.includes(`value="${typed}"`), path);
    }
  }
  const long = await (await open(`/pos/${'1'.repeat(90)}`)).text();
  assert.match(long, /value="1{40}"/, 'as much as the field holds');
});

test('codes typed on the page count as guesses like typed addresses; known ones do not', async () => {
  for (let time = 0; time < 40; time += 1) assert.equal((await open(`/pos?code=${code}`)).status, 303);
  const statuses = new Set<number>();
  for (let time = 0; time < 31; time += 1) statuses.add((await open('/pos?code=999+9998')).status);
  assert.deepEqual([...statuses], [404, 429]);
  const refused = await open(`/pos?code=${code}`);
  assert.equal(refused.status, 429);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.match(await refused.text(), /<h1 id="step">Too many requests<\/h1>/);
  assert.equal((await open(`/pos?code=${code}-${check}`)).status, 303, 'a scan is never limited');
});
