import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isFromTelegram, readUpdate, replyTo } from './callback.ts';

const private4711 = { id: 4711, type: 'private' };
const sender = { id: 4711, is_bot: false };

function read(message: unknown): ReturnType<typeof readUpdate> {
  return readUpdate(Buffer.from(JSON.stringify({ update_id: 1, message })));
}

for (const phone of ['2207012345', '+2207012345', '220877012345', '+220 87 701 2345']) {
  test(`the own contact ${phone} is the line, in either form of its number`, () => {
    const act = read({ chat: private4711, from: sender, contact: { phone_number: phone, user_id: 4711 } });
    assert.deepEqual(act, { kind: 'shared_own_number', chatId: '4711', number: '+220877012345' });
  });
}

for (const [what, contact] of Object.entries({
  'of somebody else': { phone_number: '2207012345', user_id: 4712 },
  'without a person': { phone_number: '2207012345' },
  'whose person is a text': { phone_number: '2207012345', user_id: '4711' },
  'that is no number': { phone_number: '12', user_id: 4711 },
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

test('a group links nothing, whoever shares what there', () => {
  const contact = { phone_number: '2207012345', user_id: 4711 };
  assert.equal(read({ chat: { id: -1, type: 'group' }, from: sender, contact }), null);
});

test('what is not understood is passed over', () => {
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

test('any word is answered with the button that shares a number, and /stop ends it', () => {
  const started = read({ chat: private4711, from: sender, text: '/start' });
  assert.ok(started);
  assert.match(JSON.stringify(replyTo(started)), /"request_contact":true/);
  assert.deepEqual(read({ chat: private4711, from: sender, text: '/stop' }), { kind: 'left', chatId: '4711' });
});

test('only the whole secret passes, and an empty one never does', () => {
  assert.ok(isFromTelegram('secret', 'secret'));
  for (const header of ['', 'secre', 'secrets', 'Secret', undefined, ['secret']])
    assert.ok(!isFromTelegram('secret', header));
  assert.ok(!isFromTelegram('', ''));
});
