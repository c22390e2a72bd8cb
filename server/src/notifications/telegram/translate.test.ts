import assert from 'node:assert/strict';
import { test } from 'node:test';
import { translateResponse } from './translate.ts';

function stateOf(status: number, body: unknown): string {
  return translateResponse({ status, text: typeof body === 'string' ? body : JSON.stringify(body) }).state;
}

const error = (code: number, description = 'no', parameters?: unknown) => ({
  ok: false,
  error_code: code,
  description,
  parameters,
});

const rows: readonly (readonly [string, number, unknown, string])[] = [
  ['a message', 200, { ok: true, result: { message_id: 7 } }, 'accepted'],
  ['success without a message', 200, { ok: true, result: {} }, 'unknown'],
  ['a page from a proxy', 200, '<html>', 'unknown'],
  ['an empty body', 200, '', 'unknown'],
  ['a bot that was blocked', 403, error(403, 'Forbidden: bot was blocked by the user'), 'stop_number'],
  ['a user without a chat', 403, error(403, "Forbidden: bot can't initiate conversation with a user"), 'stop_number'],
  ['an unknown chat', 400, error(400, 'Bad Request: chat not found'), 'stop_number'],
  ['another bad request', 400, error(400, 'Bad Request: message text is empty'), 'refused'],
  ['a chat that moved', 400, error(400, 'Bad Request: upgraded', { migrate_to_chat_id: -100 }), 'moved'],
  ['a rate limit', 429, error(429, 'Too Many Requests', { retry_after: 3 }), 'retry'],
  ['an invalid token', 401, error(401, 'Unauthorized'), 'stop_channel'],
  ['an unknown bot', 404, error(404, 'Not Found'), 'stop_channel'],
  ['a server error', 502, 'Bad Gateway', 'unknown'],
  ['an unknown status', 418, error(418), 'unknown'],
];

for (const [what, status, body, expected] of rows) {
  test(`${what} is ${expected}`, () => assert.equal(stateOf(status, body), expected));
}

test('429 passes on the wait that Telegram asks for, for the whole channel', () => {
  const response = translateResponse({ status: 429, text: JSON.stringify(error(429, 'no', { retry_after: 3 })) });
  assert.ok(response.state === 'retry');
  assert.equal(response.afterMs, 3_000);
  assert.equal(response.appliesToChannel, true);
});
