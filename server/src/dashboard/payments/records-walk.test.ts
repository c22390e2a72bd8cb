import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, type Page } from '../../../../test/harness/browser.ts';
import { openDashboardWorld, type DashboardWorld } from '../../../../test/harness/dashboard-world.ts';

let world: DashboardWorld;

before(async () => {
  world = await openDashboardWorld();
});
after(async () => {
  await world.stop();
});

async function assertFits(page: Page): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth > innerWidth'), false, page.url());
}

async function settle(page: Page): Promise<void> {
  await world.service.app.drain();
  await page.reload();
  await assertFits(page);
}

test('without scripts, a payment is asked for, paid, refunded and paid out on a phone of 360 pixels', async () => {
  const owner = await world.signIn('owner');
  await using opened = await openPage({ visitor: owner, width: 360, scripts: false });
  const { page } = opened;
  await page.goto(world.at('/customers/new'));
  await page.getByLabel('Name', { exact: true }).fill('Awa Ceesay');
  await page.getByLabel('Number', { exact: true }).fill('701 2345');
  await page.getByRole('button', { name: 'Record the customer' }).click();
  await assertFits(page);
  await page.goto(world.at('/payments/new'));
  await page.getByLabel('Amount in dalasi', { exact: true }).fill('1,250.00');
  await page.getByLabel('What it is for', { exact: true }).fill('Order 1042');
  await page.getByLabel('Customer', { exact: true }).selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Create the payment' }).click();
  await assertFits(page);
  const id = page.url().split('/').at(-1) ?? '';
  const paid = { amount: 1250, network: 'aps', account_number: '7000001', title: 'Order 1043' };
  const { body } = await world.api.post('/v1/payments', { data: paid });
  await page.getByRole('link', { name: 'Cancel payment' }).click();
  await page.getByRole('link', { name: 'Keep it' }).click();
  assert.equal(page.url(), world.at(`/payments/${id}`));
  await page.goto(world.at(`/payments/${String(body.payment_intent_id)}`));
  await settle(page);
  await page.getByRole('link', { name: 'Refund', exact: true }).click();
  await page.getByLabel('Amount to refund').fill('20');
  await page.getByRole('button', { name: 'Look at the refund' }).click();
  await assertFits(page);
  await page.getByRole('button', { name: 'Change it' }).click();
  assert.equal(await page.getByLabel('Amount to refund').inputValue(), '20');
  await page.getByRole('button', { name: 'Look at the refund' }).click();
  await page.getByRole('button', { name: 'Refund D20.00' }).click();
  await settle(page);
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /D20\.00\s+Refunded/);
  await page.goto(world.at('/transfers/new'));
  await page.getByLabel('Amount in dalasi', { exact: true }).fill('100');
  await page.getByLabel('Number', { exact: true }).fill('700 0001');
  await page.getByLabel('Name of the account holder').fill('Lamin Jallow');
  await page.getByRole('button', { name: 'Look at the payout' }).click();
  await assertFits(page);
  await page.getByLabel('Code of your authenticator app').fill(owner.code());
  await page.getByRole('button', { name: 'Pay out D100.00' }).click();
  await settle(page);
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /D100\.00\s+Arrived/);
  assert.deepEqual(opened.pageErrors, []);
});

test('the lists of the records lead to their records, and a split is drawn, on a wide screen in the dark', async () => {
  const owner = await world.signIn('owner');
  const { api } = world;
  const subAccount = { name: 'Partner shop', percentage: 20, settlement_code: 'wave', account_number: '7001234' };
  const sub = await api.post('/v1/sub-accounts', subAccount);
  const paid = { amount: 450, network: 'aps', account_number: '7000001', sub_account: sub.body.id };
  await api.post('/v1/payments', { data: paid });
  await world.service.app.drain();
  await using opened = await openPage({ visitor: owner, width: 1280, height: 800, dark: true });
  const { page } = opened;
  for (const section of ['payments', 'refunds', 'transfers', 'customers']) {
    await page.goto(world.at(`/${section}`));
    await assertFits(page);
    const rows = page.locator('tbody a');
    if ((await rows.count()) === 0) continue;
    await rows.first().click();
    for (const summary of await page.locator('summary').all()) await summary.click();
    await assertFits(page);
    await page.goto(world.at(`/${section}?term=nothing-like-this`));
    await page.getByRole('link', { name: 'Clear the filters' }).waitFor();
  }
  await page.goto(world.at('/split'));
  await page.getByLabel('Amount in dalasi', { exact: true }).fill('450.30');
  await page.getByLabel('Share with a sub-account').selectOption({ index: 1 });
  await page.getByRole('button', { name: 'Work out' }).click();
  await page.getByRole('img', { name: 'You D360.30, Partner shop D90.00, Fee D0.00' }).waitFor();
  await assertFits(page);
  assert.deepEqual(opened.pageErrors, []);
});
