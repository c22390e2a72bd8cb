import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import type { Charge } from '../payments/charge.ts';
import type { VirtualTerminal } from '../terminals/terminal.ts';
import { chatCallbacks } from './callbacks.ts';
import { createNoticeWorld, telegramSettings, whatsappSettings, type NoticeWorld } from './notice-world.corpus.ts';
import { noticeTag } from './whatsapp/channel.ts';

let world: NoticeWorld;
let app: FastifyInstance;

beforeEach(async () => {
  world = await createNoticeWorld();
  app = fastify();
  await app.register(chatCallbacks, {
    ...world.context,
    channelBreaker: world.notices.channelBreaker,
    chats: world.chats,
    countRefused: () => {},
    whatsapp: { ...whatsappSettings, baseUrl: world.chat.url },
    telegram: { ...telegramSettings, baseUrl: world.chat.url },
  });
});

afterEach(async () => {
  await app.close();
  await world.close();
});

const number = '+220877012345';
const whatsappUrl = '/chat-channels/whatsapp/callbacks';
const telegramUrl = '/chat-channels/telegram/callbacks';

async function paidAndNotified(): Promise<{ counter: VirtualTerminal; charge: Charge }> {
  const counter = await world.counter(['7012345']);
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  return { counter, charge };
}

interface Status {
  status: string;
  messageId?: string;
  errorCode?: number;
}

async function reportStatus(charge: Charge, { status, messageId, errorCode }: Status, secret = 'sim_app_secret') {
  const notice = await world.noticeOf(charge);
  const statusPayload = {
    id: messageId ?? notice.messageId ?? 'wamid.unknown',
    status,
    biz_opaque_callback_data: noticeTag({ merchantId: charge.merchantId, id: notice.id }),
    ...(errorCode === undefined ? {} : { errors: [{ code: errorCode }] }),
  };
  const payload = JSON.stringify({
    entry: [{ changes: [{ field: 'messages', value: { statuses: [statusPayload] } }] }],
  });
  const signature = `sha256=${createHmac('sha256', secret).update(payload).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
  return app.inject({ method: 'POST', url: whatsappUrl, headers, payload });
}

const orders = [
  ['sent', 'delivered', 'read'],
  ['read', 'delivered', 'sent'],
  ['delivered', 'read', 'sent', 'delivered'],
  ['delivered', 'read', 'failed'],
];

for (const order of orders) {
  test(`the statuses ${order.join(', ')}, in this order, end as read`, async () => {
    const { counter, charge } = await paidAndNotified();
    for (const status of order) assert.equal((await reportStatus(charge, { status })).statusCode, 200);
    assert.equal((await world.delivery(counter, number))?.status, 'read');
  });
}

test('a failure is final, shows its reason in the terminal’s record, and stops its number', async () => {
  const { counter, charge } = await paidAndNotified();
  await reportStatus(charge, { status: 'failed', errorCode: 131_026 });
  await reportStatus(charge, { status: 'delivered' });
  const { status, failure } = (await world.delivery(counter, number)) ?? {};
  assert.equal(status, 'failed');
  assert.equal(failure, 'WhatsApp cannot write to this number. Its code is 131026.');
  await world.clock.advance(60_000);
  await world.paidAt(counter);
  await world.deliverNotices();
  assert.equal(world.chat.calls.length, 1, 'nothing more is sent to it');
});

test('a status that reports an unpaid WhatsApp account stops the channel', async () => {
  const { charge } = await paidAndNotified();
  await reportStatus(charge, { status: 'failed', errorCode: 131_042 });
  assert.equal((await world.notices.channelBreaker.stops())[0]?.scope, 'channel');
});

test('a delivery status of a message with an unclear send replaces a second send', async () => {
  world.chat.next.push({ status: 502, body: 'bad gateway' });
  const { counter, charge } = await paidAndNotified();
  assert.deepEqual(await world.statuses(charge), [`${number} pending`]);
  await reportStatus(charge, { status: 'sent', messageId: 'wamid.first' });
  await world.passDelivering(120_000);
  assert.equal(world.chat.calls.length, 1);
  assert.equal((await world.delivery(counter, number))?.status, 'sent');
});

test('a failed earlier copy does not change the status of the accepted one', async () => {
  const { counter, charge } = await paidAndNotified();
  await reportStatus(charge, { status: 'failed', messageId: 'wamid.earlier', errorCode: 131_000 });
  assert.equal((await world.delivery(counter, number))?.status, 'sent');
});

test('an unsigned callback changes nothing', async () => {
  const { counter, charge } = await paidAndNotified();
  assert.equal((await reportStatus(charge, { status: 'read' }, 'another secret')).statusCode, 401);
  assert.equal((await world.delivery(counter, number))?.status, 'sent');
});

test('WhatsApp’s challenge is echoed as plain text, and a wrong verify token is refused', async () => {
  const challenge = (word: string) =>
    app.inject({
      url: whatsappUrl,
      query: { 'hub.mode': 'subscribe', 'hub.verify_token': word, 'hub.challenge': '42' },
    });
  const right = await challenge('our word');
  assert.equal(right.body, '42');
  assert.match(String(right.headers['content-type']), /^text\/plain/);
  assert.equal((await challenge('another')).statusCode, 401);
});

async function update(message: unknown, secret = telegramSettings.webhookSecret) {
  const headers = { 'content-type': 'application/json', 'x-telegram-bot-api-secret-token': secret };
  return app.inject({ method: 'POST', url: telegramUrl, headers, payload: JSON.stringify({ update_id: 1, message }) });
}

const own = {
  chat: { id: 4711, type: 'private' },
  from: { id: 4711 },
  contact: { phone_number: '2207012345', user_id: 4711 },
};

test('sharing one’s own number with the bot links it, and /stop unlinks it', async () => {
  const response = await update(own);
  assert.equal(response.statusCode, 200);
  assert.equal(response.json().method, 'sendMessage');
  assert.equal(await world.chats.find(number), '4711');
  await update({ chat: own.chat, from: own.from, text: '/stop' });
  assert.equal(await world.chats.find(number), undefined);
});

test('a callback without Telegram’s secret links nothing, nor does a foreign number', async () => {
  assert.equal((await update(own, 'guessed')).statusCode, 401);
  assert.equal((await update({ ...own, contact: { ...own.contact, user_id: 1 } })).statusCode, 200);
  assert.equal(await world.chats.find(number), undefined);
});

test('a channel that is not configured has no callback route', async () => {
  const bare = fastify();
  const { channelBreaker: gate } = world.notices;
  await bare.register(chatCallbacks, {
    ...world.context,
    channelBreaker: gate,
    chats: world.chats,
    countRefused: () => {},
    whatsapp: null,
    telegram: null,
  });
  assert.equal((await bare.inject({ method: 'POST', url: whatsappUrl })).statusCode, 404);
  assert.equal((await bare.inject({ method: 'POST', url: telegramUrl })).statusCode, 404);
  await bare.close();
});
