import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { Compile } from 'typebox/compile';
import { accessibilityViolations, openPage } from '../../../../test/harness/browser.ts';
import { effort } from '../../../../test/harness/effort.ts';
import { apiRoutes } from '../../app/api-routes.ts';
import { describeApi } from '../../http/openapi.ts';
import { errorCodes } from '../../api/error-codes.ts';
import { exampleOf } from './example-request.ts';
import { referencePages } from './reference-pages.ts';

let app: FastifyInstance;
let described = 0;
const baseUrl = 'https://pay.example.gm';

before(async () => {
  app = fastify();
  await app.register(referencePages, {
    describeApi: () => {
      described += 1;
      return describeApi(apiRoutes);
    },
    publicUrl: () => baseUrl,
    signatureHeader: 'x-shop-signature',
  });
});

after(() => app.close());

async function get(path: string): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  const { statusCode, headers, body } = await app.inject({ path });
  return { status: statusCode, headers, text: body };
}

test('no page has or allows a script or anything from another origin', async () => {
  for (const path of ['/docs', '/errors', '/errors/invalid_request', '/errors/nothing']) {
    const { headers, text } = await get(path);
    const policy = String(headers['content-security-policy']);
    assert.match(policy, /^default-src 'none'; style-src 'sha256-[^']+'; img-src/, path);
    assert.doesNotMatch(policy, /unsafe|script-src|https?:/, path);
    assert.doesNotMatch(text, /<script|<iframe|\bon\w+=|style=|src=|@import|url\(/i, path);
    assert.equal(headers['x-content-type-options'], 'nosniff');
  }
});

describe('the API reference', () => {
  test('has every operation of the API with its path, and no broken links', async () => {
    const { status, text } = await get('/docs');
    assert.equal(status, 200);
    for (const route of apiRoutes) {
      const { operationId, method, path } = route;
      const [section = ''] = text.slice(text.indexOf(`id="${operationId}"`)).split('</article>');
      const address = path.replace(':id', '{id}');
      assert.ok(section.includes(`<span class="method">${method}</span> <code>${address}</code>`), operationId);
      assert.ok(section.includes(`<p class="scope">Scope <code>${route.scope}</code></p>`), `scope of ${operationId}`);
      const [, shown = ''] = /<p class="answer">(.*)<\/p>/.exec(section) ?? [];
      const expected = route.kind === 'file' ? 200 : route.status;
      const statuses = [...shown.matchAll(/<span class="status">(\d+)</g)].map(([, status]) => Number(status));
      const isFound = route.kind !== 'file' && route.canReturnExisting === true;
      assert.deepEqual(statuses, isFound ? [expected, 200] : [expected], `statuses of ${operationId}`);
    }
    for (const [, target] of text.matchAll(/href="#([^"]+)"/g)) {
      assert.equal(text.split(`id="${target}"`).length, 2, `one place is called ${target}`);
    }
    for (const [, target] of text.matchAll(/href="(\/[^"]+)"/g)) {
      assert.equal((await get(target ?? '')).status, 200, target);
    }
  });

  test('its examples call this server with valid bodies', async () => {
    const { text } = await get('/docs');
    assert.ok(text.includes(`curl -s -X POST &#39;${baseUrl}/v1/payments&#39;`));
    assert.ok(text.includes('x-shop-signature'));
    const keys = apiRoutes.filter((route) => route.idempotencyKeyRequired).length;
    assert.equal(text.split('idempotency-key: wages-2026-05-awa').length - 1, keys, 'where the key is required');
    const withBodies = apiRoutes.filter((route) => route.body !== undefined);
    assert.ok(withBodies.length >= 5);
    for (const { operationId, body } of withBodies) {
      const example = exampleOf(body as Parameters<typeof exampleOf>[0]);
      assert.ok(Compile(body ?? {}).Check(example), `${operationId}: ${JSON.stringify(example)}`);
      assert.ok(text.includes(JSON.stringify(example).replaceAll('"', '&quot;')), operationId);
    }
  });

  test('the OpenAPI document is served, and generated once', async () => {
    const { status, headers, text } = await get('/openapi.json');
    assert.equal(status, 200);
    assert.equal(headers['content-type'], 'application/json; charset=utf-8');
    assert.deepEqual(JSON.parse(text), await describeApi(apiRoutes));
    await get('/docs');
    assert.equal(described, 1);
  });
});

describe('the error pages', () => {
  test('the list links to a page for each code, and an unknown code answers 404 with the list', async () => {
    const list = await get('/errors');
    const unknown = await get('/errors/nothing');
    assert.equal(unknown.status, 404);
    for (const [code, { title, status }] of Object.entries(errorCodes)) {
      const page = await get(`/errors/${code}`);
      assert.equal(page.status, 200);
      assert.ok(page.text.includes(`<h1>${title}</h1>`), code);
      assert.ok(page.text.includes(`<code>${code}</code>, HTTP ${status}`), code);
      for (const { text } of [list, unknown]) assert.ok(text.includes(`href="/errors/${code}"`), code);
    }
  });

  test('each page says what happened and how to fix it, with a valid example', () => {
    for (const [code, { status }] of Object.entries(errorCodes)) {
      const text = readFileSync(new URL(`../../../../docs/errors/${code}.md`, import.meta.url), 'utf8');
      assert.match(text, /\n## What happened\n[^]*\n## How to fix it\n[^]*\n## Example\n/, code);
      const example = JSON.parse(/```json\n([^]*?)```/.exec(text)?.[1] ?? '') as Record<string, unknown>;
      assert.equal(example['code'], code);
      assert.equal(example['statusCode'], status, code);
      assert.equal(example['doc_url'], `https://pay.example.gm/errors/${code}`);
      assert.match(String(example['request_id']), /^req_[0-9A-Za-z]{20}$/);
      assert.equal(typeof example['message'], 'string');
      // The renderer would show unknown Markdown as it was typed.
      const words = text.replaceAll(/```[^]*?```/g, '');
      assert.doesNotMatch(words, /^(?:\||>| {4}\S|\t|<|#{3,} |\* )/m, code);
    }
  });
});

describe('in a real browser', () => {
  let address: string;

  before(async () => {
    address = await app.listen({ host: '127.0.0.1', port: 0 });
  });

  test('pages fit a phone and a desktop and violate no policy', async () => {
    for (const width of [360, 1280]) {
      await using opened = await openPage({ width });
      for (const path of ['/docs', '/errors', '/errors/rate_limited']) {
        await opened.page.goto(address + path);
        const scrolled = await opened.page.evaluate('document.documentElement.scrollWidth');
        assert.equal(scrolled, width, `${path} at ${width} is too wide`);
      }
      assert.deepEqual(opened.pageErrors, []);
    }
  });

  test('pages are accessible', async () => {
    await using opened = await openPage();
    for (const path of ['/docs', '/errors/rate_limited']) {
      await opened.page.goto(address + path);
      // All operations have one template, and checking every one of them takes nine seconds.
      const checkedMax = effort({ usual: 12, long: 1_000 });
      await opened.page.evaluate(
        `document.querySelectorAll('article').forEach((each, at) => at < ${checkedMax} || each.remove())`,
      );
      assert.deepEqual(await accessibilityViolations(opened.page), [], path);
    }
  });
});
