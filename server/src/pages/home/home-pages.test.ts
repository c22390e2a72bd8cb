import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { accessibilityViolations, openPage } from '../../../../test/harness/browser.ts';
import { homePages } from './home-pages.ts';

async function get(path: string, offersPhone: boolean) {
  const app = fastify();
  await app.register(homePages, { publicUrl: () => 'https://pay.example.gm', offersPhone });
  const { statusCode: status, headers, body: text } = await app.inject({ path });
  await app.close();
  return { status, headers, text };
}

test('the home page says what runs here, links to the reference, and runs no script', async () => {
  const { status, headers, text } = await get('/', true);
  assert.equal(status, 200);
  assert.match(text, /Dalasi is running/);
  assert.match(String(headers['content-security-policy']), /default-src 'none'/);
  assert.doesNotMatch(text + String(headers['content-security-policy']), /<script|script-src/);
  for (const link of ['/docs', '/simulator/phone']) assert.ok(text.includes(`href="${link}"`), link);
});

test('if the simulated phone needs a signed link, the home page does not link to it', async () => {
  assert.doesNotMatch((await get('/', false)).text, /simulator/);
});

test('a request for the favicon is no error', async () => {
  assert.equal((await get('/favicon.ico', false)).status, 204);
});

test('the home page is accessible and fits 320 pixels', async () => {
  const app = fastify();
  let url = 'http://127.0.0.1';
  await app.register(homePages, { publicUrl: () => url, offersPhone: true });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
  {
    await using opened = await openPage({ width: 320, height: 640 });
    await opened.page.goto(url);
    assert.equal(await opened.page.evaluate('document.documentElement.scrollWidth'), 320);
    assert.deepEqual(await accessibilityViolations(opened.page), []);
    assert.deepEqual(opened.pageErrors, []);
  }
  await app.close();
});
