import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createApiClient, type ApiClient } from '../../../../test/harness/api-client.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { startService, type TestMerchant, type TestService } from '../../../../test/harness/service.ts';
import { asOwner, countRows } from '../../../../test/harness/tables.ts';

let service: TestService;
let merchant: TestMerchant;
let api: ApiClient;

before(async () => {
  service = await startService();
  merchant = (await service.onboard()).test;
  api = createApiClient(service.url, merchant.key);
});
after(() => service.stop());

async function newPayment(): Promise<string> {
  const { body, text } = await api.post('/v1/payments', { data: { amount: 450, currency: 'GMD' } });
  assert.ok(body['payment_link'], text);
  return new URL(String(body['payment_link'])).pathname;
}

function press(path: string, fields: Record<string, string> = {}): Promise<Response> {
  return fetch(service.url + path, {
    method: 'POST',
    redirect: 'manual',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams(fields),
  });
}

async function textOf(path: string): Promise<string> {
  return (await fetch(service.url + path)).text();
}

async function pay(path: string, number: string, network = 'aps'): Promise<void> {
  assert.equal((await press(path, { network, account_number: number })).status, 303);
}

/** Waits until the payment's page shows this. */
async function shows(path: string, pattern: RegExp): Promise<void> {
  await eventually(`${path} shows ${pattern.source}`, async () => pattern.test(await textOf(path)));
}

// What a tab holds that was left open, complete and incomplete.
const forms: { name: string; action: string; fields: Record<string, string> }[] = [
  { name: 'Pay', action: '', fields: { network: 'aps', account_number: '7012345' } },
  { name: 'Pay without a network', action: '', fields: {} },
  { name: 'Pay with a number that is none', action: '', fields: { network: 'aps', account_number: '12' } },
  { name: 'a code', action: '/code', fields: { code: '123456' } },
  { name: 'no code', action: '/code', fields: { code: '' } },
  { name: 'I have approved', action: '/confirm', fields: {} },
  { name: 'Change number or network', action: '/change', fields: { attempt: '01939f00-0000-7000-8000-000000000003' } },
];
const cancelForm = { name: 'Yes, cancel it', action: '/cancel', fields: {} };

/** Every form leads to the payment's page, and the payment stays as it is. */
async function assertAllLeadTo(path: string, tabs: typeof forms, page: RegExp): Promise<void> {
  const before = await countRows(service, merchant.merchant.id, 'payment_intents', 'charges');
  for (const { name, action, fields } of tabs) {
    const response = await press(path + action, fields);
    const location = response.headers.get('location') ?? '';
    assert.deepEqual([response.status, location.split('?')[0]], [303, path], name);
    assert.match(await textOf(location), page, name);
  }
  assert.deepEqual(await countRows(service, merchant.merchant.id, 'payment_intents', 'charges'), before);
}

describe('a form of a tab that was left open', () => {
  test('leads to the receipt if the payment was paid elsewhere', async () => {
    const path = await newPayment();
    await pay(path, '7000001');
    await shows(path, /data-receipt/);
    await assertAllLeadTo(path, [...forms, cancelForm], /data-receipt[\s\S]*PAID/);
  });

  test('leads to the page that says that the payment was cancelled', async () => {
    const path = await newPayment();
    assert.equal((await press(`${path}/cancel`)).status, 303);
    await assertAllLeadTo(path, [...forms, cancelForm], /This payment was cancelled/);
  });

  test('leads to the page that says that the time to pay is over', async () => {
    const path = await newPayment();
    await asOwner(
      service,
      `UPDATE payment_intents SET expires_at = now() - interval '1 minute' WHERE checkout_token = $1`,
      [path.split('/').at(-1)],
    );
    const page = /The time to pay is over/;
    await shows(path, page);
    await assertAllLeadTo(path, [...forms, cancelForm], page);
  });

  test('leads to the page that says why the last attempt failed', async () => {
    const path = await newPayment();
    for (let attempt = 0; attempt < 5; attempt += 1) {
      await pay(path, '7000002');
      await shows(path, attempt < 4 ? new RegExp(`${4 - attempt} tr(?:y|ies) left`) : /No tries are left/);
    }
    await assertAllLeadTo(path, [...forms, cancelForm], /No tries are left/);
  });

  test('leads to the attempt that waits, without starting another', async () => {
    const path = await newPayment();
    await pay(path, '7012345');
    await shows(path, /Approve on your phone/);
    await assertAllLeadTo(path, forms, /Approve on your phone/);
  });

  test('leads to the choice of networks if its attempt has ended: a code, a confirmation and a change', async () => {
    const path = await newPayment();
    await pay(path, '', 'wave');
    await shows(path, /Approve in <bdi>Wave/);
    const [, attempt = ''] = /name="attempt" value="([\w-]+)"/.exec(await textOf(path)) ?? [];
    assert.equal((await press(`${path}/change`, { attempt })).status, 303);
    // Without the warning of an open request: the network has cancelled the attempt.
    const page = /data-state="choose-4-1"[\s\S]*How do you want to pay\?/;
    await shows(path, page);
    const laterForms = forms.filter(({ action }) => action !== '');
    await assertAllLeadTo(path, laterForms, page);
  });
});
