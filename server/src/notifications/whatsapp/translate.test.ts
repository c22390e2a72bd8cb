import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responseForCode, translateResponse } from './translate.ts';

/** docs/networks.md, "WhatsApp"; repeated here, so that a code that moves to another group fails the test. */
const groups: Record<string, number[]> = {
  retry: [1, 2, 4, 80007, 130429, 131000, 131016, 131048, 131056, 131057],
  stop_number: [131026, 130472, 130497],
  stop_template: [132000, 132001, 132005, 132007, 132012, 132015, 132016],
  stop_channel: [0, 10, 190, 200, 250, 299, 368, 131031, 131042],
  refused: [100, 131008, 131009, 131047, 131049, 131051, 131052, 131053],
  unknown: [3, 11, 199, 300, 131001, 132099, 999999, -1],
};

for (const [state, codes] of Object.entries(groups)) {
  test(`these codes are ${state}: ${codes.join(', ')}`, () => {
    for (const code of codes) {
      assert.equal(responseForCode(code).state, state, String(code));
      const text = JSON.stringify({ error: { message: 'x', type: 'OAuthException', code, fbtrace_id: 'y' } });
      assert.equal(translateResponse({ status: 400, retryAfterMs: null, text }).state, state, String(code));
    }
  });
}

test('a message id is a success, with WhatsApp’s id of the number', () => {
  const text = JSON.stringify({
    contacts: [{ input: '220877012345', wa_id: '2207012345' }],
    messages: [{ id: 'wamid.X' }],
  });
  assert.deepEqual(translateResponse({ status: 200, retryAfterMs: null, text }), {
    state: 'accepted',
    messageId: 'wamid.X',
    recipient: '2207012345',
  });
});

test('a response without an id, cut off, or from another server is unknown', () => {
  for (const text of [
    '',
    '{}',
    '{"messages":[]}',
    '{"messages":[{"id":""}]}',
    '{"messages":[{"id":"wa',
    '<html>',
    'null',
  ]) {
    assert.equal(translateResponse({ status: 200, retryAfterMs: null, text }).state, 'unknown', text);
  }
  assert.equal(translateResponse({ status: 503, retryAfterMs: null, text: 'busy' }).state, 'unknown');
});

test('429 without a code is retried after the wait that WhatsApp asks for', () => {
  const response = translateResponse({ status: 429, retryAfterMs: 7_000, text: '' });
  assert.ok(response.state === 'retry');
  assert.equal(response.afterMs, 7_000);
});
