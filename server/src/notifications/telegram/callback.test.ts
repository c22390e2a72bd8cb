import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFromTelegram, readUpdate, replyTo } from './callback.ts';

const private4711 = { id: 4711, type: 'private' };
const sender = { id: 4711, is_bot: false };

function read(message: unknown): ReturnType<typeof readUpdate> {
  return readUpdate(Buffer.from(JSON.stringify({ update_id: 1, message })));
}

for (const phone of ['2207012345', '+2207012345', '220877012345', '+220 87 701 2345']) {
  test(`the own contact ${phone} links the number, with or without the new prefix`, () => {
    const act = read({ chat: private4711, from: sender, contact: { phone_number: phone, user_id: 4711 } });
    assert.deepEqual(act, { kind: 'shared_own_number', chatId: '4711', number: '+220877012345' });
  });
}

for (const [what, contact] of Object.entries({
  'of somebody else': { phone_number: '2207012345', user_id: 4712 },
  'without a user id': { phone_number: '2207012345' },
  'whose user id is a text': { phone_number: '2207012345', user_id: '4711' },
  'with an invalid number': { phone_number: '12', user_id: 4711 },
  'without a number': { user_id: 4711 },
})) {
  test(`a contact ${what} links nothing`, () => {
    assert.deepEqual(read({ chat: private4711, from: sender, contact }), { kind: 'shared_another', chatId: '4711' });
  });
}

test('a contact of a message without a sender links nothing', () => {
  const contact = { phone_number: '2207012345' };
  assert.equal(read({ chat: private4711, contact })?.kind, 'shared_another');
});

test('a contact shared in a group links nothing', () => {
  const contact = { phone_number: '2207012345', user_id: 4711 };
  assert.equal(read({ chat: { id: -1, type: 'group' }, from: sender, contact }), null);
});

test('an update that is not understood is ignored', () => {
  for (const text of [
    '',
    'null',
    '[]',
    '{"message":null}',
    '{"message":{"chat":5}}',
    '{"edited_message":{}}',
    '\u0000',
  ]) {
    assert.equal(readUpdate(Buffer.from(text)), null, text);
  }
});

test('any message gets the button that shares a number, and /stop unlinks the chat', () => {
  const started = read({ chat: private4711, from: sender, text: '/start' });
  assert.ok(started);
  assert.match(JSON.stringify(replyTo(started)), /"request_contact":true/);
  assert.deepEqual(read({ chat: private4711, from: sender, text: '/stop' }), { kind: 'left', chatId: '4711' });
});

test('only the exact secret passes, and an empty one never does', () => {
  assert.ok(isFromTelegram('secret', 'secret'));
  for (const header of ['', 'secre', 'secrets', 'Secret', undefined, ['secret']])
    assert.ok(!isFromTelegram('secret', header));
  assert.ok(!isFromTelegram('', ''));
});
