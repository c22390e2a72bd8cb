import assert from 'node:assert/strict';
import { get, type IncomingMessage } from 'node:http';
import { after, before, test } from 'node:test';
import type { Route } from 'playwright-core';
import { openOwnPage, openPage } from '../../../../test/harness/browser.ts';
import { sampleCharge, sampleView, checkoutFixtures } from '../../../../test/harness/checkout-fixtures.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';
import { eventually } from '../../../../test/harness/eventually.ts';
import { ManualClock } from '../../../../test/harness/manual-clock.ts';
import { startTcpProxy } from '../../../../test/harness/tcp-proxy.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';
import { stateName } from './step.ts';

let server: CheckoutServer;

before(async () => {
  server = await startCheckoutServer();
});

after(async () => {
  await server[Symbol.asyncDispose]();
});

function viewOf(name: string): CheckoutView {
  const view = checkoutFixtures[name];
  assert.ok(view, `there is no fixture ${name}`);
  return view;
}

test('an approved payment turns the open page into a receipt, and is announced to screen readers', async () => {
  const { checkout, changes, baseUrl } = server;
  checkout.setSilently('live', viewOf('approve_on_phone'));
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/pay/live`);
  await eventually('the page listens', () => changes.topics === 1);
  checkout.set('live', viewOf('asking'));
  await page.getByText('We are asking Wave whether you have paid. Do not pay again.').waitFor();
  checkout.set('live', viewOf('paid'));
  await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
  assert.equal(await page.locator('[aria-live=polite]').innerText(), 'Paid: D1,250.00 · Kairaba Bookshop');
  assert.equal(await page.title(), 'Paid: D1,250.00 · Kairaba Bookshop');
  assert.equal(await page.getByRole('button', { name: 'Print or save' }).isVisible(), true);
  await eventually('the page has stopped listening', () => changes.topics === 0);
  assert.deepEqual(opened.pageErrors, []);
});

test('an open receipt says so when the money is returned, and loses its seal', async () => {
  server.checkout.setSilently('returned', viewOf('paid'));
  await using opened = await openOwnPage();
  const { page } = opened;
  await page.clock.install();
  await page.goto(`${server.baseUrl}/pay/returned`);
  assert.equal(await page.locator('.stamp').count(), 1);
  server.checkout.setSilently('returned', viewOf('paid-partly-refunded'));
  await page.clock.runFor(15_000);
  await page.getByText('returned D250.00 of this payment to you').waitFor();
  server.checkout.setSilently('returned', viewOf('paid-refunded'));
  await page.clock.runFor(15_000);
  await page.getByText('Kairaba Bookshop returned this payment to you.').waitFor();
  assert.equal(await page.locator('.stamp').count(), 0);
});

test('on a slow network an older state that arrives late is not drawn over a newer one', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('overtaken', viewOf('starting'));
  await using opened = await openOwnPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/pay/overtaken`);
  await eventually('the page listens', () => changes.topics === 1);
  const [rendered, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    rendered.resolve();
    await released.promise;
    await route.fulfill({ response });
  };
  await page.route('**/pay/overtaken', hold, { times: 1 });
  checkout.set('overtaken', viewOf('asking'));
  await rendered.promise;
  checkout.set('overtaken', viewOf('enter_code'));
  await page.getByLabel('Code from the message').fill('123');
  const late = page.waitForEvent('requestfinished');
  released.resolve();
  await late;
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  assert.equal(await page.getByLabel('Code from the message').inputValue(), '123');
  assert.deepEqual(opened.pageErrors, []);
});

test('a change arrives even if its notification was lost', async () => {
  server.checkout.setSilently('lost', viewOf('approve_on_phone'));
  await using opened = await openPage();
  await opened.page.goto(`${server.baseUrl}/pay/lost`);
  server.checkout.setSilently('lost', viewOf('paid'));
  await opened.page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
});

test('typed values and the focus survive an update of the page', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('typing', sampleView());
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/pay/typing`);
  await eventually('the page listens', () => changes.topics === 1);
  await page.getByRole('radio', { name: 'QMoney' }).check();
  await page.getByLabel('Your mobile-money number').pressSequentially('301');
  const refused = sampleCharge({ status: 'failed', failureCode: 'declined_by_payer' });
  checkout.set('typing', sampleView({ attemptsLeft: 4, charge: refused }));
  await page.getByText('You declined it.').waitFor();
  await page.keyboard.type('2345');
  assert.equal(await page.getByLabel('Your mobile-money number').inputValue(), '3012345');
  assert.equal(await page.getByRole('radio', { name: 'QMoney' }).isChecked(), true);
});

test('the code field has the focus as soon as it appears, also after Pay was pressed on the page', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('code', viewOf('choose'));
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/pay/code`);
  await page.getByRole('radio', { name: 'Wave' }).check();
  checkout.next = viewOf('starting');
  await page.getByRole('button', { name: 'Pay D1,250.00' }).click();
  await page.getByRole('heading', { name: 'Starting your payment' }).waitFor();
  checkout.next = null;
  await eventually('the page listens', () => changes.topics === 1);
  checkout.set('code', viewOf('enter_code'));
  await page.getByLabel('Code from the message').waitFor();
  await page.keyboard.type('123456');
  assert.equal(await page.getByLabel('Code from the message').inputValue(), '123456');
});

test('focus on a button that disappears moves to the new heading', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('focus', viewOf('approve_then_confirm'));
  await using opened = await openPage();
  const { page } = opened;
  await page.goto(`${baseUrl}/pay/focus`);
  await eventually('the page listens', () => changes.topics === 1);
  await page.getByRole('button', { name: 'I have approved' }).focus();
  checkout.set('focus', viewOf('paid'));
  await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
  assert.equal(await page.evaluate('document.activeElement.id'), 'step');
});

test('a late success reaches the page of a payment that was cancelled while it was open', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('late', viewOf('cancelled-while-open'));
  await using opened = await openPage();
  await opened.page.goto(`${baseUrl}/pay/late`);
  await eventually('the page listens', () => changes.topics === 1);
  checkout.set('late', viewOf('paid'));
  await opened.page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
});

test('a payment cancelled while its attempt was open says that nothing was paid once that has failed', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('never', viewOf('cancelled-while-open'));
  await using opened = await openPage();
  await opened.page.goto(`${baseUrl}/pay/never`);
  await eventually('the page listens', () => changes.topics === 1);
  const failed = sampleCharge({ status: 'failed', progress: 'final', failureCode: 'expired', nextAction: null });
  checkout.set('never', sampleView({ status: 'cancelled', charge: failed }));
  await opened.page.getByText('You have not paid.', { exact: true }).waitFor();
  // A page that still listened would connect again every three seconds: its stream ends at once.
  assert.equal(await opened.page.locator('main[data-live]').count(), 0);
});

test('a page whose line fell silent shows within a minute what happened meanwhile', async () => {
  const { checkout, baseUrl, changes } = server;
  checkout.setSilently('silent', viewOf('approve_on_phone'));
  const line = await startTcpProxy({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) });
  await using opened = await openOwnPage();
  const { page } = opened;
  await page.clock.install();
  await page.goto(`http://127.0.0.1:${line.port}/pay/silent`);
  await eventually('the page listens', () => changes.topics === 1);
  line.silence();
  checkout.set('silent', viewOf('paid'));
  await line.restore();
  await page.clock.runFor(60_000);
  await page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
  await line.close();
});

test('a browser without a stream response polls', async () => {
  await using full = await startCheckoutServer({ streamsMax: 0 });
  await using opened = await openOwnPage();
  await opened.page.clock.install();
  await opened.page.goto(`${full.baseUrl}/pay/approve_on_phone`);
  const statusResponse = opened.page.waitForResponse(
    (response) => response.url().endsWith('/status') && response.status() === 200,
  );
  full.checkout.setSilently('approve_on_phone', viewOf('paid'));
  await statusResponse;
  await opened.page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' }).waitFor();
});

test('a browser without EventSource polls', async () => {
  server.checkout.setSilently('old', viewOf('approve_on_phone'));
  await using opened = await openOwnPage();
  await opened.page.clock.install();
  await opened.page.addInitScript('delete window.EventSource');
  const firstPoll = opened.page.waitForResponse((response) => response.url().endsWith('/status'));
  await opened.page.goto(`${server.baseUrl}/pay/old`);
  await firstPoll;
  server.checkout.setSilently('old', viewOf('paid'));
  const paid = opened.page.getByRole('heading', { name: 'Paid to Kairaba Bookshop' });
  await eventually('the page has polled again', async () => {
    await opened.page.clock.runFor(5_000);
    return paid.isVisible();
  });
  assert.deepEqual(opened.pageErrors, []);
});

test('the minutes left count down on the page', async () => {
  await using opened = await openOwnPage();
  await opened.page.clock.install();
  await opened.page.goto(`${server.baseUrl}/pay/choose`);
  await opened.page.getByText('30 min').waitFor();
  await opened.page.clock.runFor(5 * 60_000);
  await opened.page.getByText('25 min').waitFor();
});

test('the time since the payment runs on while the phone sleeps', async () => {
  await using opened = await openOwnPage();
  const { page } = opened;
  await page.clock.install();
  await page.goto(`${server.baseUrl}/pay/paid-at-counter`);
  const since = page.locator('[data-since-ms]');
  await page.clock.runFor(3_000);
  // A sleeping phone stops timers and, on many phones, performance.now().
  await page.clock.setSystemTime((await page.evaluate<number>('Date.now()')) + 2 * 3_600_000);
  await page.clock.runFor(1_000);
  assert.match(await since.innerText(), /^2 h /);
});

interface OpenStream {
  response: IncomingMessage;
  text(): string;
  ended: Promise<unknown>;
}

async function openStream(url: string): Promise<OpenStream> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent: false, headers: { accept: 'text/event-stream' } }, resolve).on('error', reject);
  const response = await promise;
  let text = '';
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const ended = new Promise((done) => response.on('close', done));
  return { response, text: () => text, ended };
}

test('the stream carries the state’s name only, sends heartbeats, and ends after 5 minutes', async () => {
  const clock = new ManualClock();
  await using manual = await startCheckoutServer({ clock });
  const stream = await openStream(`${manual.baseUrl}/pay/approve_on_phone/status`);
  assert.equal(stream.response.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(stream.response.headers['cache-control'], 'no-store');
  await clock.untilSleeping(1);
  await eventually('the state is told', () => stream.text() === 'retry: 3000\n\ndata: approve_on_phone-4-1\n\n');
  for (let look = 0; look < 8; look += 1) {
    await clock.untilSleeping(1);
    await clock.advance(2_000);
  }
  await eventually('it beats', () => stream.text() === 'retry: 3000\n\ndata: approve_on_phone-4-1\n\n:\n\n');
  while (clock.sleeping > 0) await clock.advance(2_000);
  await stream.ended;
  assert.ok(clock.now().getTime() - new Date('2026-11-20T12:00:00.000Z').getTime() >= 5 * 60_000);
  assert.equal(manual.changes.topics, 0);
});

test('two attempts between which the payer goes back and forth are two states', () => {
  const { charge: first, ...view } = viewOf('approve-second-number');
  assert.ok(first);
  const [one, other] = [
    { ...first, attempt: 1 },
    { ...first, attempt: 2 },
  ];
  assert.notEqual(stateName({ ...view, charge: one }), stateName({ ...view, charge: other }));
});

test('a phone that has pressed Pay opens Wave also when its address comes later', async () => {
  const { checkout, baseUrl } = server;
  checkout.setSilently('later', sampleView());
  await using opened = await openOwnPage({ phone: true });
  const { page } = opened;
  await page.route('https://pay.wave.example/**', (route) => route.fulfill({ body: 'Wave' }));
  await page.goto(`${baseUrl}/pay/later`);
  checkout.next = viewOf('starting');
  await page.locator('input[value=wave]').check();
  await page.getByRole('button', { name: 'Pay' }).click();
  await page.getByRole('heading', { name: 'Starting your payment' }).waitFor();
  checkout.set('later', viewOf('open_url'));
  await page.waitForURL('https://pay.wave.example/**');
});

test('without scripts, an open receipt is loaded again each minute', async () => {
  const { body } = await server.app.inject({ url: '/pay/paid' });
  assert.match(body, /<noscript><meta http-equiv="refresh" content="60"><\/noscript>/);
});

test('a stream ends when the payment has ended, and when the server closes', async () => {
  const closing = await startCheckoutServer();
  const settled = await openStream(`${closing.baseUrl}/pay/paid/status`);
  await settled.ended;
  assert.equal(settled.text(), 'retry: 3000\n\ndata: paid-0\n\n');
  const waiting = await openStream(`${closing.baseUrl}/pay/choose/status`);
  await closing[Symbol.asyncDispose]();
  await waiting.ended;
});

test('a stream survives a temporary failure to read the payment', async () => {
  const clock = new ManualClock();
  await using manual = await startCheckoutServer({ clock });
  const stream = await openStream(`${manual.baseUrl}/pay/choose/status`);
  await clock.untilSleeping(1);
  manual.checkout.outage = new Error('the database is away');
  await clock.advance(2_000);
  await clock.untilSleeping(1);
  manual.checkout.outage = null;
  manual.checkout.set('choose', viewOf('starting'));
  await eventually('the new state is told', () => stream.text().includes('data: starting-4'));
  stream.response.destroy();
  await eventually('the server has noticed', () => manual.changes.topics === 0);
});

test('streams beyond the limit are refused, until one of them ends', async () => {
  await using small = await startCheckoutServer({ streamsMax: 1 });
  const url = `${small.baseUrl}/pay/choose/status`;
  const first = await openStream(url);
  const second = await openStream(url);
  assert.equal(second.response.statusCode, 503);
  assert.equal(second.response.headers['retry-after'], '5');
  first.response.destroy();
  await eventually('the place is free', async () => {
    const third = await openStream(url);
    third.response.destroy();
    return third.response.statusCode === 200;
  });
});

test('one payment cannot use up the streams of the others', async () => {
  await using small = await startCheckoutServer({ streamsMax: 20 });
  const statusOf = async (token: string) =>
    (await openStream(`${small.baseUrl}/pay/${token}/status`)).response.statusCode;
  const statuses = await Promise.all(Array.from({ length: 20 }, () => statusOf('choose')));
  assert.equal(statuses.filter((status) => status === 200).length, 10);
  assert.equal(statuses.filter((status) => status === 503).length, 10);
  assert.equal(await statusOf('approve_on_phone'), 200);
});

test('without a stream, the status is one word, and 404 for an unknown payment', async () => {
  const known = await server.app.inject({ url: '/pay/open_url/status' });
  assert.equal(known.body, 'open_url-4-1');
  assert.equal(known.headers['content-type'], 'text/plain; charset=utf-8');
  assert.equal((await server.app.inject({ url: '/pay/unknown/status' })).statusCode, 404);
});
