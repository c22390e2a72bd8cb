import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { startCallbackReceiver } from '../harness/callback-receiver.ts';
import { eventually } from '../harness/eventually.ts';
import { startService, type TestBusiness, type TestService } from '../harness/service.ts';

let service: TestService;
let business: TestBusiness;
let api: ApiClient;

before(async () => {
  service = await startService();
  business = await service.onboard('Kairaba <b>Books</b>');
  api = createApiClient(service.url, business.test.key);
});

after(() => service.stop());

async function createCounter(name: string, chatNumbers: string[]): Promise<Record<string, unknown>> {
  const created = await api.post('/v1/virtual-terminals', { name, chat_numbers: chatNumbers });
  assert.equal(created.status, 201, created.text);
  return created.body;
}

/** As a payer without scripts in the browser; the number approves at once. */
async function payAt(counterUrl: string): Promise<string> {
  const post = async (url: string, fields: Record<string, string>): Promise<string> => {
    const page = await (await fetch(url)).text();
    const hidden = [...page.matchAll(/type="hidden" name="([^"]+)" value="([^"]*)"/g)];
    const body = new URLSearchParams({
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
      ...fields,
    });
    const response = await fetch(url, { method: 'POST', body, redirect: 'manual', headers: { origin: service.url } });
    assert.equal(response.status, 303, await response.text());
    return new URL(response.headers.get('location') ?? '', url).href;
  };
  const checkout = await post(counterUrl, { amount: '125' });
  return post(checkout, { network: 'aps', account_number: '7000001' });
}

async function chatOf(number: string): Promise<string> {
  return (await fetch(`${service.url}/simulator/chat/${number}`)).text();
}

test('a payment at a counter notifies the simulated phone and the webhook, with the receipt’s code', async () => {
  const receiver = await startCallbackReceiver();
  await api.send('PUT', `/v1/webhook-endpoints/${business.test.endpointId}`, {
    body: JSON.stringify({ url: `${receiver.url}/events` }),
    headers: { 'content-type': 'application/json' },
  });
  const counter = await createCounter('Front "desk" <i>', ['7012345']);
  const receiptUrl = await payAt(String(counter['qr_code_url']));
  await eventually('the message came', async () => (await chatOf('7012345')).includes('D125.00 · '));
  const [, code = ''] = /D125\.00 · ([2-9A-Z]{4})\n/.exec(await chatOf('+220877012345')) ?? [];
  assert.match(await chatOf('7012345'), /Front &quot;desk&quot; &lt;i&gt;, Kairaba &lt;b&gt;Books&lt;\/b&gt;\n/);
  assert.match(await (await fetch(receiptUrl)).text(), new RegExp(`>${code}<`));
  const receivedEvents = () => receiver.received.map(({ body }) => JSON.parse(body.toString()));
  await eventually('the event came', () => receivedEvents().some(({ event }) => event === 'charge.succeeded'));
  const { data } = receivedEvents().find(({ event }) => event === 'charge.succeeded');
  assert.equal(data.terminal_id, counter['id']);
  assert.equal(data.metadata.terminal_id, counter['code']);
  assert.ok(data.transaction_reference.endsWith(code));
  await eventually('the terminal’s record says so', async () => {
    const { body } = await api.get(`/v1/virtual-terminals/${String(counter['id'])}`);
    const [delivery] = body['chat_delivery'] as { number: string; status: string | null; failure: string | null }[];
    return delivery?.number === '7012345' && delivery.status === 'sent' && delivery.failure === null;
  });
  await receiver.close();
});

test('a webhook receiver that is down delays no chat message', async () => {
  const receiver = await startCallbackReceiver();
  receiver.respondWith(null);
  await api.send('PUT', `/v1/webhook-endpoints/${business.test.endpointId}`, {
    body: JSON.stringify({ url: `${receiver.url}/events` }),
    headers: { 'content-type': 'application/json' },
  });
  const counter = await createCounter('Back desk', ['3123456']);
  await payAt(String(counter['qr_code_url']));
  await eventually('the message came', async () => (await chatOf('3123456')).includes('D125.00 · '));
  await receiver.close();
});

test('a chat callback without the channel’s secret, or of a disabled channel, gets 404', async () => {
  for (const channel of ['whatsapp', 'telegram']) {
    const response = await fetch(`${service.url}/chat-channels/${channel}/callbacks`, { method: 'POST', body: '{}' });
    assert.equal(response.status, 404);
  }
});
