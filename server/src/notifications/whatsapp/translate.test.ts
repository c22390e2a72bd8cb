import assert from 'node:assert/strict';
import { test } from 'node:test';
import { responseForCode, translateResponse } from './translate.ts';

/** docs/networks.md, "WhatsApp"; written out once more, so that a code that slips into another group is seen. */
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

test('a message’s id is a success, and the name that WhatsApp has for the number is kept', () => {
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

test('an answer without an id, and one that is cut off or of somebody else, is unknown', () => {
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

test('429 without a code is tried again, after the wait that is asked for', () => {
  const answer = translateResponse({ status: 429, retryAfterMs: 7_000, text: '' });
  assert.ok(answer.state === 'retry');
  assert.equal(answer.afterMs, 7_000);
});
