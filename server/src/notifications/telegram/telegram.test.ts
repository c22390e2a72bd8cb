import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { telegramError, whatsappError } from '../fake-chat.corpus.ts';
import { createNoticeWorld, telegramSettings, type NoticeWorld } from '../notice-world.corpus.ts';

let world: NoticeWorld;

beforeEach(async () => {
  world = await createNoticeWorld();
  world.notices.channels.live = [world.telegram];
});

afterEach(() => world.close());

const number = '+220877012345';

async function payAndNotify(): Promise<string[]> {
  const charge = await world.paidAt(await world.counter(['7012345']));
  await world.deliverNotices();
  return world.statuses(charge);
}

function texts(): unknown[] {
  return world.chat.calls.map(({ body }) => body['text']);
}

test('a number with a linked chat gets the text unchanged, without markup', async () => {
  await world.chats.link({ number, chatId: '4711' });
  assert.deepEqual(await payAndNotify(), [`${number} sent`]);
  const [call] = world.chat.calls;
  assert.equal(call?.path, `/bot${telegramSettings.botToken}/sendMessage`);
  assert.equal(call?.body['chat_id'], '4711');
  assert.equal(call?.body['parse_mode'], undefined);
  assert.match(
    String(call?.body['text']),
    /^D100\.00 · [2-9A-Z]{4}\nCounter: Front desk, Kairaba Books\nTime: .*\nNetwork: Wave, from \.{4} 1234\n/,
  );
});

test('a number without a chat is dropped with the reason, and nothing is sent', async () => {
  assert.deepEqual(await payAndNotify(), [`${number} dropped`]);
  assert.equal(world.chat.calls.length, 0);
});

for (const [status, description] of [
  [403, 'Forbidden: bot was blocked by the user'],
  [403, 'Forbidden: user is deactivated'],
  [400, 'Bad Request: chat not found'],
] as const) {
  test(`“${description}” unlinks the number, until it is shared again`, async () => {
    await world.chats.link({ number, chatId: '4711' });
    world.chat.next.push(telegramError(status, description));
    assert.deepEqual(await payAndNotify(), [`${number} failed`]);
    assert.equal(await world.chats.find(number), undefined);
    await world.clock.advance(10_000);
    await world.chats.link({ number, chatId: '4712' });
    assert.deepEqual(await payAndNotify(), [`${number} sent`]);
    assert.equal(world.chat.calls.at(-1)?.body['chat_id'], '4712');
  });
}

test('429 makes the whole bot wait for as long as it asks', async () => {
  await world.chats.link({ number, chatId: '4711' });
  await world.chats.link({ number: '+220833123456', chatId: '4712' });
  world.chat.next.push(telegramError(429, 'Too Many Requests', { retry_after: 35 }));
  const charge = await world.paidAt(await world.counter(['7012345']));
  await world.deliverNotices();
  const other = await world.paidAt(await world.counter(['3123456']));
  await world.passDelivering(34_000);
  assert.equal(world.chat.calls.length, 1, 'nobody’s message goes out meanwhile');
  await world.passDelivering(20_000);
  assert.deepEqual([await world.statuses(charge), await world.statuses(other)].flat(), [
    `${number} sent`,
    '+220833123456 sent',
  ]);
});

test('a chat that moved gets this message and later ones at its new id', async () => {
  await world.chats.link({ number, chatId: '4711' });
  world.chat.next.push(telegramError(400, 'Bad Request: upgraded', { migrate_to_chat_id: -1_001_234 }));
  assert.deepEqual(await payAndNotify(), [`${number} sent`]);
  assert.deepEqual(
    world.chat.calls.map(({ body }) => body['chat_id']),
    ['4711', '-1001234'],
  );
  assert.equal(texts()[0], texts()[1]);
  assert.equal(await world.chats.find(number), '-1001234');
});

test('a refused token stops the channel; the token is never logged', async () => {
  await world.chats.link({ number, chatId: '4711' });
  world.chat.next.push(telegramError(401, 'Unauthorized'));
  assert.deepEqual(await payAndNotify(), [`${number} pending`]);
  assert.equal((await world.notices.channelBreaker.stops())[0]?.scope, 'channel');
  world.context.log.error('a mistake', new Error(`at https://api.example/bot${telegramSettings.botToken}/sendMessage`));
  const secretPart = telegramSettings.botToken.split(':')[1] ?? '';
  assert.ok(world.logged.length > 1);
  assert.ok(world.logged.every((line) => !line.includes(secretPart)));
});

test('a number that WhatsApp cannot reach gets the message by Telegram at once', async () => {
  world.notices.channels.live = [world.whatsapp, world.telegram];
  await world.chats.link({ number, chatId: '4711' });
  world.chat.next.push(whatsappError(131_026));
  assert.deepEqual(await payAndNotify(), [`${number} sent`]);
  assert.equal(world.chat.calls.length, 2);
  await world.clock.advance(10_000);
  assert.deepEqual(await payAndNotify(), [`${number} sent`]);
});

test('a chat has one number: sharing another one moves the chat', async () => {
  await world.chats.link({ number, chatId: '4711' });
  await world.chats.link({ number: '+2209123456', chatId: '4711' });
  assert.equal(await world.chats.find(number), undefined);
  assert.equal(await world.chats.find('+2209123456'), '4711');
});
