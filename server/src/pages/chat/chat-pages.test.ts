import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { accessibilityViolations, openPage } from '../../../../test/harness/browser.ts';
import { createServiceLog } from '../../api/service-log.ts';
import type { ChatMessage } from '../../notifications/notice.ts';
import { chatPages } from './chat-pages.ts';

const message = (body: string): ChatMessage => ({
  id: '01939f00-0000-7000-8000-00000000000c',
  body,
  createdAt: new Date('2026-11-20T10:18:00.000Z'),
});

const notice = `Test, no real money: D1,250.50 · ABCD
Counter: Front desk, Kairaba Books
Time: 20 Nov 2026, 10:18
Network: Wave, from .... 4725
Reference: TX-20261120-101700-7KQ2ABCD`;

const payloads = [
  '<script>document.title = "run"</script>',
  '"><img src=x onerror="document.title=\'run\'">',
  '</p></li></ol><iframe src="javascript:parent.document.title=1"></iframe>',
  '<style>body{display:none}</style>',
  '<svg/onload=document.title=1>',
  '{{7*7}} ${7*7} &lt;b&gt;',
  '=HYPERLINK("https://evil.example")',
  '\u202eesrever',
];

const chats: Record<string, ChatMessage[]> = {
  '+220877002345': [message(notice), message(notice.replace('D1,250.50', 'D75.00'))],
  '+220877002346': payloads.map(message),
  '+221771234567': [message(notice)],
};

let app: FastifyInstance;
let baseUrl = '';

before(async () => {
  app = fastify();
  await app.register(chatPages, {
    listMessages: async (number) => chats[number] ?? [],
    log: createServiceLog({ level: 'silent' }),
    publicUrl: () => baseUrl,
    formKey: 'a key of the tests',
  });
  baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
});

after(async () => {
  await app.close();
});

for (const size of [
  { width: 360, height: 740 },
  { width: 1280, height: 800 },
]) {
  test(`at ${size.width} pixels the messages show line by line, accessibly and without scripts`, async () => {
    await using opened = await openPage(size);
    const { page } = opened;
    await page.goto(`${baseUrl}/simulator/chat/7002345`);
    await page.getByRole('heading', { name: 'Simulated chat of 700 2345' }).waitFor();
    assert.equal(await page.locator('script').count(), 0);
    const texts = await page.locator('.message p').allInnerTexts();
    assert.deepEqual(texts, [notice, notice.replace('D1,250.50', 'D75.00')]);
    assert.deepEqual(await accessibilityViolations(page), []);
    const overflow = await page.evaluate('document.documentElement.scrollWidth > innerWidth');
    assert.equal(overflow, false, 'nothing is wider than the screen');
    assert.deepEqual(opened.pageErrors, []);
  });
}

test('markup in a message is shown as text and runs nothing', async () => {
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/simulator/chat/7002346`);
  assert.deepEqual(await page.locator('.message p').allInnerTexts(), payloads);
  assert.equal(await page.locator('script, iframe, img, style:not(head style)').count(), 0);
  assert.equal(await page.title(), 'Simulated chat of 700 2346');
  assert.deepEqual(opened.pageErrors, []);
});

test('a number in any form, also a foreign one, opens its chat', async () => {
  for (const number of ['7002345', '+220 87 700 2345', '877002345', '+221 77 123 45 67']) {
    const response = await app.inject(`/simulator/chat/${encodeURIComponent(number)}`);
    assert.equal(response.statusCode, 200);
    assert.match(response.body, /D1,250\.50 · ABCD/, number);
  }
});

test('the form opens a chat without scripts, and refuses an invalid number', async () => {
  await using opened = await openPage({ scripts: false });
  const { page } = opened;
  await page.goto(`${baseUrl}/simulator/chat`);
  await page.getByLabel('Number').fill('12');
  await page.getByRole('button', { name: 'Look at the chat' }).click();
  await page.getByText('That is not a phone number.').waitFor();
  await page.getByLabel('Number').fill('7009999');
  await page.getByRole('button', { name: 'Look at the chat' }).click();
  await page.getByText('No messages yet.').waitFor();
  await page.getByRole('link', { name: 'Look for new messages' }).click();
  await page.getByText('No messages yet.').waitFor();
});

test('an invalid number is shown as text only', async () => {
  const response = await app.inject(`/simulator/chat/${encodeURIComponent('"><script>alert(1)</script>')}`);
  assert.equal(response.statusCode, 400);
  assert.doesNotMatch(response.body, /<script/);
});
