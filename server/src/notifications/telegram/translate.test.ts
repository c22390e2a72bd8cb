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
  ['a page of somebody’s proxy', 200, '<html>', 'unknown'],
  ['nothing', 200, '', 'unknown'],
  ['blocked', 403, error(403, 'Forbidden: bot was blocked by the user'), 'stop_number'],
  ['cannot begin', 403, error(403, "Forbidden: bot can't initiate conversation with a user"), 'stop_number'],
  ['no such chat', 400, error(400, 'Bad Request: chat not found'), 'stop_number'],
  ['another bad request', 400, error(400, 'Bad Request: message text is empty'), 'refused'],
  ['moved', 400, error(400, 'Bad Request: upgraded', { migrate_to_chat_id: -100 }), 'moved'],
  ['too many', 429, error(429, 'Too Many Requests', { retry_after: 3 }), 'retry'],
  ['no such token', 401, error(401, 'Unauthorized'), 'stop_channel'],
  ['no such bot', 404, error(404, 'Not Found'), 'stop_channel'],
  ['their mistake', 502, 'Bad Gateway', 'unknown'],
  ['a status that nobody knows', 418, error(418), 'unknown'],
];

for (const [what, status, body, expected] of rows) {
  test(`${what} is ${expected}`, () => assert.equal(stateOf(status, body), expected));
}

test('the wait that is asked for is handed on', () => {
  const answer = translateResponse({ status: 429, text: JSON.stringify(error(429, 'no', { retry_after: 3 })) });
  assert.ok(answer.state === 'retry');
  assert.equal(answer.afterMs, 3_000);
  assert.equal(answer.appliesToChannel, true);
});
