import { AppError } from '../../server/src/api/app-error.ts';
import { checkoutFixtures } from './checkout-fixtures.ts';
import { counterFixtures, linkFixtures } from './collect-fixtures.ts';
import { refusedCode, refusedNumber, type FakeCheckout } from './fake-checkout.ts';
import type { Page } from './browser.ts';

/** A page that a payer can see, for pictures and for the tests that walk through all of them. */
export interface PayerPage {
  name: string;
  path: string;
  /** What happens on the page before it is looked at. It finds controls by their names, which no language changes. */
  act?: (page: Page, checkout: FakeCheckout) => Promise<void>;
}

/** Every page of every state that payers see, on the server of checkout-server.ts. */
export const payerPages: readonly PayerPage[] = [
  ...Object.keys(checkoutFixtures).map((name) => ({ name, path: `/pay/${name}` })),
  { name: 'cancel-question', path: '/pay/choose/cancel' },
  { name: 'cancel-question-while-open', path: '/pay/approve_on_phone/cancel' },
  {
    name: 'number-refused',
    path: '/pay/choose',
    act: (page, checkout) => payWith(page, '12', { checkout, error: refusedNumber() }),
  },
  { name: 'number-missing', path: '/pay/choose', act: (page) => payWith(page, '') },
  {
    name: 'network-refused',
    path: '/pay/choose',
    act: (page, checkout) =>
      payWith(page, '3012345', { checkout, error: new AppError('rate_limited', 'Too many requests.') }),
  },
  { name: 'code-wrong', path: '/pay/enter_code', act: typeWrongCode },
  { name: 'not-yet-approved', path: '/pay/approve_then_confirm?confirmed=1' },
  { name: 'chosen-without-number', path: '/pay/choose', act: (page) => choose(page, 'wave') },
  { name: 'trouble-404', path: '/pay/nobody-knows-this' },
  {
    name: 'trouble-500',
    path: '/pay/choose',
    act: (page, checkout) => failWith(page, { checkout, error: new Error('a fault') }),
  },
  {
    name: 'trouble-503',
    path: '/pay/choose',
    act: (page, checkout) =>
      failWith(page, { checkout, error: new AppError('unavailable', 'The database does not respond.') }),
  },
  ...Object.keys(linkFixtures).map((name) => ({ name: `link-${name}`, path: `/link/${name}` })),
  ...Object.keys(counterFixtures).map((name) => ({ name: `counter-${name}`, path: `/pos/${name}` })),
  { name: 'link-amount-refused', path: '/link/open', act: (page) => enterAmount(page, '5') },
  {
    name: 'link-amount-largest',
    path: '/link/open',
    act: (page) => page.locator('input[name=amount]').fill('1,000,000.00'),
  },
  { name: 'link-number-refused', path: '/link/fields', act: (page) => payWith(page, '12') },
  { name: 'link-number-missing', path: '/link/fields', act: (page) => payWith(page, '') },
  { name: 'counter-code', path: '/pos' },
  { name: 'counter-code-unknown', path: '/pos/9999999' },
];

interface Refusal {
  checkout: FakeCheckout;
  error: Error;
}

async function choose(page: Page, network: string): Promise<void> {
  await page.locator(`input[name=network][value=${network}]`).check();
}

async function payWith(page: Page, number: string, refusal?: Refusal): Promise<void> {
  if (refusal) refusal.checkout.next = refusal.error;
  await choose(page, 'afrimoney');
  await page.locator('input[name=account_number]').fill(number);
  await send(page);
  await page.locator('.error, .notice').first().waitFor();
  if (refusal) refusal.checkout.next = null;
}

async function enterAmount(page: Page, amount: string): Promise<void> {
  await page.locator('input[name=amount]').fill(amount);
  await send(page);
  await page.locator('.error').waitFor();
}

async function typeWrongCode(page: Page, checkout: FakeCheckout): Promise<void> {
  checkout.next = refusedCode();
  await page.locator('.code input').fill('111111');
  await send(page);
  await page.locator('.error').waitFor();
  checkout.next = null;
}

async function failWith(page: Page, { checkout, error }: Refusal): Promise<void> {
  checkout.outage = error;
  await page.reload();
  checkout.outage = null;
}

async function send(page: Page): Promise<void> {
  await page.locator('form button.button').first().click();
}
