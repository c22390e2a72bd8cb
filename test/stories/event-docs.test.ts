import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startCallbackReceiver, type CallbackReceiver } from '../harness/callback-receiver.ts';
import { curlLines, runCurlLine, withoutRandomValues } from '../harness/curl-lines.ts';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';

// Runs the curl lines of docs/events.md, and compares the responses with the page.

const page = readFileSync(join(import.meta.dirname, '../../docs/events.md'), 'utf8');

let story: PaymentStory;
let receiver: CallbackReceiver;

before(async () => {
  story = await startPaymentStory();
  receiver = await startCallbackReceiver();
});
after(async () => {
  await story.stop();
  await receiver.close();
});

test('every curl line of the page on events works, and returns what the page shows', async () => {
  const lines = curlLines(page);
  assert.equal(lines.length, 6);
  const endpoint = await story.api.post('/v1/webhook-endpoints', { url: `${receiver.url}/events` });
  await story.paySettled('7000001');
  const { body } = await story.api.get('/v1/events?event=charge.succeeded');
  const [event] = body['data'] as { id: string }[];
  assert.ok(event);
  const variables = { KEY: story.merchant.key, ENDPOINT: String(endpoint.body['id']), EVENT: event.id };
  for (const { command, response: shown } of lines) {
    const response = await runCurlLine(story.service.url, command, variables);
    assert.ok(response.status < 300, `${command} answers ${response.text}`);
    if (shown !== null) assert.deepEqual(withoutRandomValues(response.body), withoutRandomValues(shown), command);
  }
  await story.settle();
  // Two events of the payment, one of them resent, and the test event.
  assert.equal(receiver.received.length, 4);
});
