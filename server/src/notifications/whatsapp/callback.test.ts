import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyChallenge, isSignedByWhatsapp, readStatuses } from './callback.ts';

// The example of docs/networks.md, "WhatsApp".
const secret = 'sim_app_secret';
const body = Buffer.from('{"object":"whatsapp_business_account","entry":[]}');
const signature = 'sha256=bc905fee67e86250e46ead4d1b193c97047125f2d02654205c854126a661a243';

test('the documented example of a signature passes', () => assert.ok(isSignedByWhatsapp(secret, body, signature)));

for (const [what, refused] of Object.entries({
  'another secret': () => isSignedByWhatsapp('another', body, signature),
  'an empty secret': () => isSignedByWhatsapp('', body, signature),
  'a body that was written anew': () =>
    isSignedByWhatsapp(secret, Buffer.from('{"object": "whatsapp_business_account", "entry": []}'), signature),
  'a signature in capitals': () => isSignedByWhatsapp(secret, body, signature.toUpperCase()),
  'a signature without its prefix': () => isSignedByWhatsapp(secret, body, signature.slice(7)),
  'a signature that is cut off': () => isSignedByWhatsapp(secret, body, signature.slice(0, -2)),
  'no signature': () => isSignedByWhatsapp(secret, body, undefined),
  'two signatures': () => isSignedByWhatsapp(secret, body, [signature, signature]),
})) {
  test(`${what} does not pass`, () => assert.equal(refused(), false));
}

test('the challenge is echoed only with our verify token, and only if it is plain', () => {
  const query = { 'hub.mode': 'subscribe', 'hub.verify_token': 'our word', 'hub.challenge': '1158201444' };
  assert.equal(verifyChallenge('our word', query), '1158201444');
  assert.equal(verifyChallenge('our word', { ...query, 'hub.verify_token': 'our words' }), null);
  assert.equal(verifyChallenge('our word', { ...query, 'hub.verify_token': ['our word'] }), null);
  assert.equal(verifyChallenge('our word', { ...query, 'hub.mode': 'unsubscribe' }), null);
  assert.equal(verifyChallenge('our word', { ...query, 'hub.challenge': '<script>' }), null);
  assert.equal(verifyChallenge('our word', {}), null);
});

const merchantId = '01939f00-0000-7000-8000-00000000000c';
const noticeId = '01939f00-0000-7000-8000-00000000000d';

function bodyOf(...statuses: unknown[]): Buffer {
  const value = { messaging_product: 'whatsapp', statuses };
  return Buffer.from(JSON.stringify({ entry: [{ changes: [{ field: 'messages', value }] }] }));
}

test('the statuses of our notices are read, with the reason of a failure', () => {
  const tag = `${merchantId}:${noticeId}`;
  const read = readStatuses(
    bodyOf(
      { id: 'wamid.1', status: 'delivered', biz_opaque_callback_data: tag, recipient_id: '220' },
      { id: 'wamid.1', status: 'failed', biz_opaque_callback_data: tag, errors: [{ code: 131026, title: 'x' }] },
      { id: 'wamid.1', status: 'failed', biz_opaque_callback_data: tag },
    ),
  );
  const notice = { merchantId, noticeId, messageId: 'wamid.1' };
  assert.deepEqual(read, [
    { ...notice, status: 'delivered', errorCode: null },
    { ...notice, status: 'failed', errorCode: 131026 },
    { ...notice, status: 'failed', errorCode: null },
  ]);
});

test('statuses of foreign messages, unknown statuses and other content are ignored', () => {
  const tag = `${merchantId}:${noticeId}`;
  const others = bodyOf(
    { id: 'wamid.1', status: 'delivered' },
    { id: 'wamid.1', status: 'delivered', biz_opaque_callback_data: 'an order' },
    { id: 'wamid.1', status: 'delivered', biz_opaque_callback_data: `${tag}:more` },
    { id: 'wamid.1', status: 'deleted', biz_opaque_callback_data: tag },
    { status: 'read', biz_opaque_callback_data: tag },
    null,
    'text',
  );
  for (const text of [others, Buffer.from(''), Buffer.from('[]'), Buffer.from('{"entry":[null,{"changes":[null]}]}')]) {
    assert.deepEqual(readStatuses(text), []);
  }
});
