import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyLedger } from '../../server/src/ledger/verify.ts';
import { createApiClient, type ApiClient } from '../harness/api-client.ts';
import { openOwnPage, openPage, type OpenedPage, type Page, type PageOptions } from '../harness/browser.ts';
import { effort } from '../harness/effort.ts';
import { ofDay, today } from '../harness/pairwise.ts';
import { withAdminClient } from '../../server/src/database/admin-client.ts';
import { startService, type TestService } from '../harness/service.ts';

// A payer's whole path through the real service: checkout, simulated phone and network over real HTTP, in a real
// browser, with scripts and without.

let service: TestService;
let api: ApiClient;

before(async () => {
  service = await startService();
  const business = await service.onboard('Kairaba Books');
  api = createApiClient(service.url, business.test.key);
});

after(async () => {
  const { finding } = await verifyLedger(service.db);
  await service.stop();
  assert.equal(finding, null);
});

interface Payment {
  id: string;
  link: string;
}

async function createPayment(): Promise<Payment> {
  const { status, body, text } = await api.post('/v1/payments', {
    data: {
      amount: 450,
      title: 'School fees',
      return_url: 'http://localhost:9/done',
      cancel_url: 'http://localhost:9/no',
    },
  });
  assert.equal(status, 201, text);
  return { id: String(body['payment_intent_id']), link: String(body['payment_link']) };
}

async function choose(page: Page, network: string, number: string | null): Promise<void> {
  await page.getByRole('radio', { name: network }).check();
  if (number !== null) await page.getByLabel('Your mobile-money number').fill(number);
  await page.getByRole('button', { name: 'Pay' }).click();
}

async function openPhone(number: string, options: PageOptions): Promise<OpenedPage> {
  const phone = await openPage(options);
  await phone.page.goto(`${service.url}/simulator/phone/${number}`);
  return phone;
}

/** With scripts the page updates itself; without them it reloads while it waits. */
async function expectPaid(page: Page, payment: Payment): Promise<void> {
  await page.getByRole('heading', { name: 'Paid to Kairaba Books' }).waitFor();
  const link = await page.getByRole('link', { name: 'Back to Kairaba Books' }).getAttribute('href');
  assert.equal(link, `http://localhost:9/done?payment_intent_id=${payment.id}&status=successful`);
  const { body } = await api.get(`/v1/transactions/${payment.id}`);
  assert.equal(body['status'], 'completed');
}

// Separate numbers, so that each phone shows one payment only.
let lastNumber = 7_010_100;
function freshNumber(): string {
  lastNumber += 13;
  return String(lastNumber);
}

// Every other day without scripts; in the long run both.
for (const scripts of effort({ usual: ofDay([true, false], { day: today(), days: 2 }), long: [true, false] })) {
  const mode = scripts ? 'with scripts' : 'without scripts';

  test(`${mode}, a payer pays by link, in Wave`, async () => {
    const payment = await createPayment();
    await using opened = await openOwnPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'Wave', null);
    const launch = await page.getByRole('link', { name: 'Open Wave' }).getAttribute('href');
    const wave = await page.context().newPage();
    await wave.goto(launch ?? '');
    await wave.getByRole('button', { name: 'Approve' }).click();
    await wave.getByRole('link', { name: 'Back to the payment page' }).waitFor();
    await expectPaid(page, payment);
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a payer approves on the phone and the page shows the payment as paid`, async () => {
    const payment = await createPayment();
    const number = freshNumber();
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'APS', `+220 ${number}`);
    await page.getByRole('heading', { name: /on your phone/i }).waitFor();
    await using phone = await openPhone(number, { scripts });
    await phone.page.getByRole('button', { name: 'Approve' }).click();
    await expectPaid(page, payment);
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a payer leaves Wave for another network and pays once; the link to Wave is closed`, async () => {
    const payment = await createPayment();
    const number = freshNumber();
    await using opened = await openOwnPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'Wave', null);
    const launch = await page.getByRole('link', { name: 'Open Wave' }).getAttribute('href');
    const wave = await page.context().newPage();
    await wave.goto(launch ?? '');
    await wave.getByRole('button', { name: 'Approve' }).waitFor();
    await page.getByRole('button', { name: 'Change number or network' }).click();
    await choose(page, 'APS', number);
    await page
      .getByText(`${number.slice(0, 3)} ${number.slice(3)}`)
      .first()
      .waitFor();
    await wave.reload();
    await wave.getByText('Cancelled on the payment page.').waitFor();
    await using phone = await openPhone(number, { scripts });
    await phone.page.getByRole('button', { name: 'Approve' }).click();
    await expectPaid(page, payment);
    const { body } = await api.get(`/v1/payments/${payment.id}/timeline`);
    assert.match(JSON.stringify(body), /The payer left this attempt/);
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a payer approves on the phone and then confirms on the page`, async () => {
    const payment = await createPayment();
    const number = freshNumber();
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'Afrimoney', number);
    await page.getByRole('button', { name: 'I have approved' }).waitFor();
    await using phone = await openPhone(number, { scripts });
    await phone.page.getByRole('button', { name: 'Approve' }).click();
    await phone.page.getByText('Approved here').waitFor();
    await page.getByRole('button', { name: 'I have approved' }).click();
    await expectPaid(page, payment);
    assert.deepEqual(opened.pageErrors, []);
  });

  test(`${mode}, a payer mistypes the code, then types it right`, async () => {
    const payment = await createPayment();
    const number = freshNumber();
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'QMoney', number);
    await page.getByRole('heading', { name: 'Enter the code' }).waitFor();
    await using phone = await openPhone(number, { scripts });
    const code = await phone.page.locator('.sms').innerText();
    await page.getByLabel('Code from the message').fill(code === '111111' ? '222222' : '111111');
    await page.getByRole('button', { name: 'Confirm the payment' }).click();
    await page.getByText('This code is not right. Try again.').waitFor();
    await page.getByLabel('Code from the message').fill(code);
    await page.getByRole('button', { name: 'Confirm the payment' }).click();
    await expectPaid(page, payment);
    // The same digits within a longer number or an id are chance.
    const alone = new RegExp(`(?<![0-9A-Za-z])${code}(?![0-9A-Za-z])`);
    const logged = service.logLines.filter((line) => alone.test(line));
    assert.deepEqual(logged, [], 'a code is never logged');
  });

  test(`${mode}, a refused payer reads why, tries again and pays`, async () => {
    const payment = await createPayment();
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await choose(page, 'APS', '7000003');
    await page
      .getByText(/not enough money/i)
      .first()
      .waitFor();
    const retryControl = page
      .getByRole('link', { name: /try again/i })
      .or(page.getByRole('button', { name: /try again/i }));
    if (await retryControl.count()) await retryControl.first().click();
    await choose(page, 'APS', '7000001');
    await expectPaid(page, payment);
    const { body } = await api.get(`/v1/payments/${payment.id}`);
    assert.equal(body['attempts'], 2);
  });

  test(`${mode}, a payer cancels after confirming it`, async () => {
    const payment = await createPayment();
    await using opened = await openPage({ scripts });
    const { page } = opened;
    await page.goto(payment.link);
    await page.getByRole('link', { name: 'Cancel this payment' }).click();
    const { body: still } = await api.get(`/v1/payments/${payment.id}`);
    assert.equal(still['status'], 'requires_payment_method', 'a question is no answer');
    await page.getByRole('button', { name: /cancel/i }).click();
    await page.getByRole('heading', { name: 'This payment was cancelled' }).waitFor();
    const { body } = await api.get(`/v1/payments/${payment.id}`);
    assert.equal(body['status'], 'cancelled');
  });

  test(`${mode}, a payer who opens an expired payment reads that it has expired`, async () => {
    const payment = await createPayment();
    await withAdminClient(service.database.adminUrl, (client) =>
      client.query('UPDATE payment_intents SET expires_at = created_at WHERE id = $1', [payment.id]),
    );
    await using opened = await openPage({ scripts });
    await opened.page.goto(payment.link);
    await opened.page.getByRole('heading', { name: 'The time to pay is over' }).waitFor();
    const { body } = await api.get(`/v1/payments/${payment.id}`);
    assert.equal(body['status'], 'expired');
  });
}
