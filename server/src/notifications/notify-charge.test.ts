import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../../test/harness/eventually.ts';
import { addMs } from '../kit/clock.ts';
import { applyResponse } from '../payments/apply-response.ts';
import { reversed } from '../payments/payment-world.corpus.ts';
import { shortCodeOf } from '../payments/transaction-reference.ts';
import { whatsappError } from './fake-chat.corpus.ts';
import { channelTimeoutMs, createNoticeWorld, type NoticeWorld } from './notice-world.corpus.ts';
import { notifyCharge } from './notify-charge.ts';
import { claimNotice, listNotices } from './queries.ts';

const minuteMs = 60_000;

let world: NoticeWorld;

beforeEach(async () => {
  world = await createNoticeWorld();
});

afterEach(() => world.close());

function receivers(): string[] {
  return world.chat.calls.map(({ body }) => String(body['to'])).toSorted();
}

test('each number gets one message about a payment, with everything needed to check the receipt', async () => {
  const counter = await world.counter(['7012345', '+221 77 123 45 67']);
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  await world.passDelivering(10_000);
  assert.deepEqual(receivers(), ['220877012345', '221771234567']);
  const [call] = world.chat.calls;
  assert.equal(call?.path, '/v23.0/1055501234/messages');
  assert.equal(call?.headers.authorization, 'Bearer EAAGtoken');
  const { transactionReference: reference } = charge;
  const parts = [
    'D100.00',
    shortCodeOf(reference),
    'Front desk, Kairaba Books',
    '20 Nov 2026, 12:00',
    'Wave',
    '.... 1234',
    reference,
  ];
  assert.deepEqual(call?.body['template'], {
    name: 'payment_received',
    language: { code: 'en' },
    components: [{ type: 'body', parameters: parts.map((text) => ({ type: 'text', text })) }],
  });
  assert.deepEqual(await world.statuses(charge), ['+220877012345 sent', '+221771234567 sent']);
  assert.deepEqual(await world.claimNotices(), [], 'the work is done');
});

test('repeated work, also when interrupted, sends nothing twice', async () => {
  const charge = await world.paidAt(await world.counter(['7012345']));
  const [work] = await world.claimNotices();
  assert.ok(work);
  await notifyCharge(world.notices, work);
  await notifyCharge(world.notices, work);
  assert.equal(world.chat.calls.length, 1);
  assert.deepEqual(await world.statuses(charge), ['+220877012345 sent']);
});

test('two workers with the same work at once send one message to each number', async () => {
  await world.openConnections();
  const charge = await world.paidAt(await world.counter(['7012345', '3123456', '6123456']));
  const [work] = await world.claimNotices();
  assert.ok(work);
  const [one, other] = [world.newNotices(), world.newNotices()];
  await Promise.all([notifyCharge(one, work), notifyCharge(other, work)]);
  await world.passDelivering(2 * minuteMs);
  assert.deepEqual(receivers(), ['220833123456', '220866123456', '220877012345']);
  assert.equal((await world.statuses(charge)).filter((status) => status.endsWith(' sent')).length, 3);
});

test('an attempt is claimed once, however old the row that a worker has read', async () => {
  world.chat.usually = () => whatsappError(131_000, 500);
  const charge = await world.paidAt(await world.counter(['7012345']));
  await world.deliverNotices();
  const [notice] = await listNotices(world.db, charge.merchantId, charge.id);
  assert.ok(notice);
  await world.clock.advance(minuteMs);
  const now = world.clock.now();
  const claim = { channel: 'whatsapp', now, leaseEndsAt: addMs(now, minuteMs) } as const;
  const claims = await Promise.all([claimNotice(world.db, notice, claim), claimNotice(world.db, notice, claim)]);
  assert.deepEqual(claims.toSorted(), [0, 1]);
  await world.clock.advance(2 * minuteMs);
  assert.equal(await claimNotice(world.db, notice, { ...claim, now: world.clock.now() }), 0, 'it has seen too little');
});

test('of concurrent payments in two workers one notice is sent, and the others wait for the number', async () => {
  await world.openConnections();
  const counter = await world.counter(['7012345']);
  for (let payment = 0; payment < 6; payment += 1) await world.paidAt(counter);
  const [one, other] = [world.newNotices(), world.newNotices()];
  const due = await world.claimNotices();
  await Promise.all(due.map((work, index) => notifyCharge(index % 2 === 0 ? one : other, work)));
  assert.equal(world.chat.calls.length, 1);
  await world.passDelivering(40_000);
  assert.equal(world.chat.calls.length, 6);
});

test('a message in flight, also a retried one, leaves no send slot of its number unused', async () => {
  world.chat.usually = () => whatsappError(131_000, 500);
  const counter = await world.counter(['7012345']);
  await world.paidAt(counter);
  await world.deliverNotices();
  await world.clock.advance(minuteMs);
  world.chat.usually = () => null;
  const [repeated] = await world.claimNotices();
  assert.ok(repeated);
  const sending = notifyCharge(world.notices, repeated);
  await eventually('the second attempt is under way', () => world.chat.calls.length === 2);
  await world.paidAt(counter);
  await world.deliverNotices();
  await world.clock.advance(6_000);
  const [next] = await world.claimNotices();
  assert.ok(next, 'the next message is due when the number is free');
  const sendingNext = notifyCharge(world.notices, next);
  await eventually('it goes out', () => world.chat.calls.length === 3);
  await world.closeChat();
  await Promise.all([sending, sendingNext]);
});

test('a number gets at most one message in six seconds, over all merchants and spellings', async () => {
  const other = await world.newLiveMerchant();
  const [mine, theirs] = [await world.counter(['7012345']), await world.counter(['+220 877 012 345'], other)];
  const sentAt: number[] = [];
  const startedAt = world.clock.now().getTime();
  world.chat.usually = (call) => {
    sentAt.push(world.clock.now().getTime() - startedAt);
    const to = String(call.body['to']);
    return { status: 200, body: { contacts: [{ wa_id: to }], messages: [{ id: `wamid.${sentAt.length}` }] } };
  };
  for (let payment = 0; payment < 3; payment += 1) {
    await world.paidAt(mine);
    await world.paidAt(theirs, other);
  }
  for (let second = 0; second <= 60; second += 1) {
    await world.deliverNotices();
    await world.deliverNotices(other);
    await world.clock.advance(1_000);
  }
  assert.equal(sentAt.length, 6);
  const gaps = sentAt.slice(1).map((at, index) => at - (sentAt[index] ?? 0));
  assert.ok(
    gaps.every((gap) => gap >= 6_000),
    `the gaps are ${gaps.join(', ')} ms`,
  );
});

test('a notice not sent within an hour of the payment is dropped with the reason', async () => {
  const counter = await world.counter(['7012345']);
  world.chat.usually = () => whatsappError(131_000, 500);
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  assert.deepEqual(await world.statuses(charge), ['+220877012345 pending']);
  for (let minute = 0; minute < 59; minute += 1) {
    await world.clock.advance(minuteMs);
    await world.deliverNotices();
  }
  const callsBefore = world.chat.calls.length;
  assert.ok(callsBefore > 3 && callsBefore <= 10, `${callsBefore} attempts`);
  await world.clock.advance(2 * minuteMs);
  world.chat.usually = () => ({ status: 200, body: { messages: [{ id: 'wamid.late' }] } });
  await world.deliverNotices();
  assert.equal(world.chat.calls.length, callsBefore, 'an hour later nothing is sent any more');
  assert.deepEqual(await world.statuses(charge), ['+220877012345 dropped']);
  assert.match((await world.delivery(counter, '+220877012345'))?.failure ?? '', /\.$/);
});

test('a payment older than an hour, as after an outage of the workers, sends no notice', async () => {
  const counter = await world.counter(['7012345']);
  const charge = await world.paidAt(counter);
  await world.clock.advance(61 * minuteMs);
  await world.deliverNotices();
  assert.equal(world.chat.calls.length, 0);
  assert.deepEqual(await world.statuses(charge), ['+220877012345 dropped']);
  assert.match((await world.delivery(counter, '+220877012345'))?.failure ?? '', /within an hour/);
});

test('a rate-limited send is retried, not before the time that the channel asked for', async () => {
  const counter = await world.counter(['7012345']);
  world.chat.next.push(whatsappError(130_429, 429, { 'retry-after': '40' }));
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  await world.passDelivering(39_000);
  assert.equal(world.chat.calls.length, 1);
  await world.passDelivering(20_000);
  assert.equal(world.chat.calls.length, 2);
  assert.deepEqual(await world.statuses(charge), ['+220877012345 sent']);
});

test('a send without a response is retried a few times, then given up', async () => {
  world.chat.usually = () => null;
  const counter = await world.counter(['7012345']);
  const charge = await world.paidAt(counter);
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const delivering = world.deliverNotices();
    await eventually('the channel was asked', () => world.chat.calls.length === attempt);
    await world.clock.advance(channelTimeoutMs);
    await delivering;
    await world.clock.advance(5 * minuteMs);
  }
  await world.deliverNotices();
  assert.equal(world.chat.calls.length, 3);
  assert.deepEqual(await world.statuses(charge), ['+220877012345 dropped']);
});

test('an unreachable number stays stopped until its counter is saved again, and stops no other', async () => {
  const counter = await world.counter(['7012345', '3123456']);
  world.chat.usually = ({ body }) =>
    body['to'] === '220877012345'
      ? whatsappError(131_026)
      : { status: 200, body: { messages: [{ id: `wamid.${world.chat.calls.length}` }] } };
  const first = await world.paidAt(counter);
  await world.deliverNotices();
  assert.deepEqual(await world.statuses(first), ['+220833123456 sent', '+220877012345 failed']);
  await world.clock.advance(minuteMs);
  const second = await world.paidAt(counter);
  await world.deliverNotices();
  assert.deepEqual(receivers(), ['220833123456', '220833123456', '220877012345']);
  assert.deepEqual(await world.statuses(second), ['+220833123456 sent', '+220877012345 failed']);
  assert.equal(
    (await world.delivery(counter, '+220877012345'))?.failure,
    'WhatsApp cannot write to this number. Its code is 131026.',
  );
  await world.clock.advance(minuteMs);
  await world.changeCounter(counter, { chatNumbers: ['7012345', '3123456'] });
  world.chat.usually = () => ({ status: 200, body: { messages: [{ id: `wamid.${world.chat.calls.length}` }] } });
  const third = await world.paidAt(counter);
  await world.deliverNotices();
  assert.deepEqual(await world.statuses(third), ['+220833123456 sent', '+220877012345 sent']);
});

test('a refused template stops all sends, is logged once, and ends when a trial message is accepted', async () => {
  const counter = await world.counter(['7012345', '3123456', '6123456']);
  world.chat.usually = () => whatsappError(132_001, 404);
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  const callsBefore = world.chat.calls.length;
  assert.ok(callsBefore <= 3);
  await world.paidAt(counter);
  await world.passDelivering(4 * minuteMs);
  assert.equal(world.chat.calls.length, callsBefore, 'nothing goes out meanwhile');
  const [stop] = await world.notices.channelBreaker.stops();
  assert.equal(stop?.scope, 'template');
  const lines = () => world.logged.filter((line) => line.includes('a chat channel is stopped'));
  assert.equal(lines().length, 1, lines().join('\n'));
  await world.passDelivering(90_000);
  assert.ok(world.chat.calls.length > callsBefore, 'it is tried after five minutes');
  assert.ok(world.chat.calls.length <= callsBefore + 1, 'by one message');
  world.chat.usually = () => ({ status: 200, body: { messages: [{ id: `wamid.${world.chat.calls.length}` }] } });
  await world.passDelivering(6 * minuteMs);
  assert.deepEqual(await world.notices.channelBreaker.stops(), []);
  assert.equal(lines().length, 1);
  assert.deepEqual(await world.statuses(charge), ['+220833123456 sent', '+220866123456 sent', '+220877012345 sent']);
});

test('a number removed from the counter while its message waits gets no message', async () => {
  const counter = await world.counter(['7012345', '3123456']);
  world.chat.usually = () => whatsappError(131_000, 500);
  const charge = await world.paidAt(counter);
  await world.deliverNotices();
  world.chat.usually = () => ({ status: 200, body: { messages: [{ id: `wamid.${world.chat.calls.length}` }] } });
  await world.changeCounter(counter, { chatNumbers: ['3123456'] });
  await world.passDelivering(30_000);
  assert.deepEqual(await world.statuses(charge), ['+220833123456 sent', '+220877012345 dropped']);
});

test('a payment reversed before its notice was sent sends no notice', async () => {
  const charge = await world.paidAt(await world.counter(['7012345']));
  await applyResponse(world.context, charge, reversed(charge));
  await world.deliverNotices();
  assert.equal(world.chat.calls.length, 0);
  assert.deepEqual(await world.statuses(charge), ['+220877012345 dropped']);
});

test('WhatsApp’s id of a number is stored and used from then on', async () => {
  const counter = await world.counter(['7012345']);
  world.chat.next.push({ status: 200, body: { contacts: [{ wa_id: '2207012345' }], messages: [{ id: 'wamid.1' }] } });
  await world.paidAt(counter);
  await world.deliverNotices();
  await world.clock.advance(10_000);
  await world.paidAt(counter);
  await world.deliverNotices();
  assert.deepEqual(
    world.chat.calls.map(({ body }) => body['to']),
    ['220877012345', '2207012345'],
  );
});

test('in test a message goes to the simulated phone; in live without a channel it is dropped and logged', async () => {
  const [counter, liveCounter] = [await world.counter(['7012345'], world.merchant), await world.counter(['7012345'])];
  await world.paidAt(counter, world.merchant);
  await world.deliverNotices(world.merchant);
  assert.equal((await world.delivery(counter, '+220877012345'))?.status, 'sent');
  world.notices.channels.live = [];
  const charge = await world.paidAt(liveCounter);
  await world.deliverNotices();
  assert.deepEqual(await world.statuses(charge), ['+220877012345 dropped']);
  assert.match((await world.delivery(liveCounter, '+220877012345'))?.failure ?? '', /No chat channel is set up/);
  assert.equal(world.chat.calls.length, 0);
});

test('a merchant’s record shows no messages of another merchant to the number', async () => {
  const counter = await world.counter(['7012345']);
  await world.paidAt(counter);
  await world.deliverNotices();
  const other = await world.newLiveMerchant();
  assert.equal(await world.delivery({ ...counter, merchantId: other.id }, '+220877012345'), undefined);
});
