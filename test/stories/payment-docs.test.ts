import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { systemClock } from '../../server/src/kit/clock.ts';
import { eventBody } from '../../server/src/webhooks/envelope.ts';
import { signatureHeaders } from '../../server/src/webhooks/signature.ts';
import { curlLines, runCurlLine, withoutRandomValues } from '../harness/curl-lines.ts';
import { eventually } from '../harness/eventually.ts';
import { createExampleWorld, availableLanguages, type ExampleShop } from '../harness/example-receivers.ts';
import { startPaymentStory, type PaymentStory } from '../harness/payment-story.ts';

// Runs the curl lines of docs/payments.md and docs/sub-accounts.md, and the shops whose code they show.

const examples = createExampleWorld();
const read = (path: string): string => readFileSync(join(import.meta.dirname, '../..', path), 'utf8');
const page = read('docs/payments.md');
let story: PaymentStory;

before(async () => {
  story = await startPaymentStory();
  // The shops use their own clocks.
  await story.clock.jump(systemClock.now().getTime() - story.clock.now().getTime());
});
after(async () => {
  await examples.close();
  await story.stop();
});

test('every curl line of the page on payments works, and returns what the page shows', async () => {
  const lines = curlLines(page);
  assert.equal(lines.length, 8);
  const variables: Record<string, string> = { KEY: story.merchant.key, ENDPOINT: story.merchant.endpointId };
  for (const { command, response: shown } of lines) {
    const response = await runCurlLine(story.service.url, command, variables);
    assert.ok(response.status < 300, `${command} answers ${response.text}`);
    if (shown !== null) assert.deepEqual(withoutRandomValues(response.body), withoutRandomValues(shown), command);
    variables['PAYMENT'] ??= String(response.body['payment_intent_id']);
    variables['SECRET'] ??= String(response.body['intent_secret']);
  }
  await setEndpointUrl(null);
});

async function setEndpointUrl(url: string | null): Promise<void> {
  const { status, text } = await story.api.send('PUT', `/v1/webhook-endpoints/${story.merchant.endpointId}`, {
    body: JSON.stringify({ url }),
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(status, 200, text);
}

test('every curl line of the page on sub-accounts works, except those it shows as refused', async () => {
  const lines = curlLines(read('docs/sub-accounts.md'));
  const variables: Record<string, string> = { KEY: story.merchant.key };
  const other = { name: 'Lamin Touray', percentage: 10, settlement_code: 'aps', account_number: '7000001' };
  variables['OTHER'] = String((await story.api.post('/v1/sub-accounts', other)).body['id']);
  for (const { command } of lines) {
    const response = await runCurlLine(story.service.url, command, variables);
    if (command.includes('-X DELETE')) assert.equal(response.body['code'], 'sub_account_in_use', response.text);
    // There is no debt here; settlement/routes.test.ts waives one.
    else if (command.includes('/waive-debt'))
      assert.equal(response.body['code'], 'amount_out_of_bounds', response.text);
    else assert.ok(response.status < 300, `${command} answers ${response.text}`);
    if (command.includes('/v1/sub-accounts -H')) variables['SUB'] = String(response.body['id']);
    if (command.includes('/v1/sub-account-groups')) variables['GROUP'] = String(response.body['id']);
    await story.settle();
  }
  assert.equal(lines.length, 11);
  const { body } = await story.api.get(`/v1/sub-accounts/${variables['OTHER']}`);
  assert.equal(body['balance'], 50, 'the share that the page states');
});

test('the code on the payments page is the code of the tested shops', () => {
  const shown = [...page.matchAll(/```(ts|php|python)\n([^]*?)```/g)];
  assert.equal(shown.length, 9);
  for (const [, language = '', code = ''] of shown) {
    const shop = read(`examples/shop.${language === 'python' ? 'py' : language}`);
    const paragraphs = code.trim().split(/\n\n(?=\S)/);
    for (const paragraph of paragraphs) assert.ok(shop.includes(paragraph), `${language} differs: ${paragraph}`);
  }
});

for (const language of availableLanguages().present.filter((present) => present !== 'Go')) {
  describe(`the ${language} shop`, () => {
    let shop: ExampleShop;

    before(async () => {
      const { key, webhookSecret } = story.merchant;
      shop = await examples.startShop(language, { secret: webhookSecret, key, dalasiUrl: story.service.url });
    });

    /** Buys, and returns the address that the customer is sent to and the path of the order's page. */
    async function buy(): Promise<{ paymentId: string; orderUrl: string }> {
      const bought = await fetch(`${shop.url}/orders`, { method: 'POST', redirect: 'manual' });
      assert.equal(bought.status, 303, shop.printed());
      const [newest] = (await story.api.get('/v1/payments?limit=1')).body['data'] as Record<string, string>[];
      assert.equal(bought.headers.get('location'), newest?.['payment_link']);
      return { paymentId: newest?.['payment_intent_id'] ?? '', orderUrl: newest?.['return_url'] ?? '' };
    }

    async function shown(orderUrl: string): Promise<string> {
      return (await fetch(orderUrl)).text();
    }

    async function payAgain(orderUrl: string): Promise<{ status: number; location: string | null }> {
      const response = await fetch(`${orderUrl}/pay`, { method: 'POST', redirect: 'manual' });
      return { status: response.status, location: response.headers.get('location') };
    }

    async function cancel(paymentId: string): Promise<void> {
      const { status, text } = await story.api.post(`/v1/payments/${paymentId}/cancel`, {});
      assert.equal(status, 200, text);
    }

    /** The shop's response to an event signed with the endpoint's secret. */
    async function sendEvent(record: object): Promise<number> {
      const sentAt = systemClock.now();
      const recordText = JSON.stringify(record);
      const id = '01a1f8ad-0000-7000-8000-000000000001';
      const kind = 'charge.succeeded';
      const body = eventBody({
        id,
        kind,
        createdAt: sentAt,
        testMode: true,
        sequence: 1n,
        requestId: null,
        recordText,
      });
      const secrets = { current: story.merchant.webhookSecret, previous: null };
      const headers = signatureHeaders({ id, sentAt, body }, secrets, 'x-service-signature');
      return (await fetch(`${shop.url}/events`, { method: 'POST', body, headers })).status;
    }

    function paidOrders(): number {
      return shop.printed().match(/\bpaid [\w-]{30,}/g)?.length ?? 0;
    }

    /** Pays or cancels on the hosted page, as the customer does. */
    async function pay(paymentId: string): Promise<void> {
      assert.equal(await story.postForm(paymentId, '', { network: 'aps', account_number: '7000001' }), 303);
      await story.settle();
    }

    it('shows an order as paid when the payment is successful, whatever its address claims', async () => {
      const { paymentId, orderUrl } = await buy();
      assert.match(await shown(`${orderUrl}?payment_intent_id=${paymentId}&status=successful`), /not paid yet/);
      await pay(paymentId);
      assert.match(await shown(orderUrl), /your order is paid/);
      assert.equal(paidOrders(), 1);
    });

    it('lets a customer who cancelled pay again, with one new payment however often they retry', async () => {
      const { paymentId, orderUrl } = await buy();
      assert.doesNotMatch(await shown(orderUrl), /Pay again/);
      await cancel(paymentId);
      assert.match(await shown(orderUrl), /not paid yet: cancelled.*Pay again/);
      const again = await payAgain(orderUrl);
      assert.equal(again.status, 303, shop.printed());
      const [newest] = (await story.api.get('/v1/payments?limit=1')).body['data'] as Record<string, string>[];
      assert.notEqual(newest?.['payment_intent_id'], paymentId);
      assert.equal(again.location, newest?.['payment_link']);
      assert.deepEqual(await payAgain(orderUrl), again, 'an open payment is not replaced');
      await pay(newest?.['payment_intent_id'] ?? '');
      assert.match(await shown(orderUrl), /your order is paid/);
      assert.deepEqual(await payAgain(orderUrl), { status: 303, location: orderUrl }, 'a paid order is not paid again');
    });

    it('accepts the event of an earlier payment of the order, and requests no other one then', async () => {
      const { paymentId, orderUrl } = await buy();
      await cancel(paymentId);
      await payAgain(orderUrl);
      const order = orderUrl.split('/').at(-1);
      const record = { id: paymentId, payment_intent_id: paymentId, amount: 450, currency: 'GMD', metadata: { order } };
      assert.equal(await sendEvent(record), 204);
      await eventually('the order is paid', async () => (await shown(orderUrl)).includes('your order is paid'));
      assert.deepEqual(await payAgain(orderUrl), { status: 303, location: orderUrl });
    });

    it('marks an order as paid once by the event alone, and refuses an unsigned event', async () => {
      const { paymentId, orderUrl } = await buy();
      const forged = await fetch(`${shop.url}/events`, { method: 'POST', body: '{"event":"charge.succeeded"}' });
      assert.equal(forged.status, 401);
      const paidBefore = paidOrders();
      await setEndpointUrl(`${shop.url}/events`);
      await pay(paymentId);
      await eventually('the shop has marked the order as paid', () => paidOrders() === paidBefore + 1);
      assert.match(await shown(orderUrl), /your order is paid/);
      assert.equal(paidOrders(), paidBefore + 1);
      await setEndpointUrl(null);
    });
  });
}
