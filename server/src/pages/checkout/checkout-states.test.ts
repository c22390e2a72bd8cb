import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openOwnPage, openPage } from '../../../../test/harness/browser.ts';
import { checkoutFixtures } from '../../../../test/harness/checkout-fixtures.ts';
import { readableText } from '../../../../test/harness/readable-text.ts';
import { startCheckoutServer, type CheckoutServer } from '../../../../test/harness/checkout-server.ts';

let server: CheckoutServer;

before(async () => {
  server = await startCheckoutServer();
});

after(async () => {
  await server[Symbol.asyncDispose]();
});

/** The text that each state must show; white space is ignored. */
const words: Record<keyof typeof checkoutFixtures, string[]> = {
  choose: ['Test mode: no real money moves', 'Pay Kairaba Bookshop', 'D1,250.00', 'Pay by 10:48', '30 min left'],
  'choose-live': ['Pay D1,250.00'],
  'choose-with-fee': ['Amount D450.00', 'Fee D9.00', 'Total D459.00', 'Pay D459.00'],
  'choose-one-network': ['Pay with Afrimoney', 'Af Afrimoney'],
  'choose-no-network': ['No network takes this payment now'],
  'choose-after-refusal': ['Not enough money in your Afrimoney wallet. You have not paid. 3 tries left.', '.... 2345'],
  'choose-after-declining': ['You declined it.', 'You have not paid.'],
  'choose-last-try': ['1 try left.'],
  'choose-long-texts': ['D1,000,000.00'],
  'choose-appearance': ['Pay Kairaba Bookshop'],
  'approve-nothing-appearance': ['Dial *777# on that phone', 'Ask the shop: 701 2345 WhatsApp shop@kairaba.example'],
  'failed-appearance': ['Ask the shop: 701 2345'],
  'paid-appearance': ['PAID'],
  starting: ['Starting your payment'],
  open_url: ['Open Wave', 'Approve it there'],
  approve_on_phone: ['Look at the phone .... 2345: APS asks you to pay D1,250.00.', 'This page goes on by itself.'],
  approve_then_confirm: [
    'Look at the phone .... 2345: Afrimoney asks',
    'Come back here and press the button.',
    'I have approved',
  ],
  'approve-changeable': ['Look at the phone .... 2345', 'Change number or network'],
  'approve-nothing-arrived': ['Nothing arrived?', 'Check the number: .... 2345.', 'Is the phone on, with signal?'],
  'approve-second-number': [
    'Look at the phone .... 4567',
    'Do not approve the old request (Afrimoney .... 2345). If you approve both, you pay twice.',
  ],
  'choose-after-leaving': ['Do not approve the old request (Afrimoney .... 2345).', 'How do you want to pay?'],
  'choose-after-left-ended': ['How do you want to pay?'],
  'choose-after-second-refusal': [
    'Not enough money in your APS wallet. If you approved the old request, it still counts: then wait,',
    '3 tries left.',
    'Do not approve the old request (Afrimoney .... 2345).',
  ],
  'failed-after-leaving': [
    'Not enough money in your APS wallet.',
    'If you approved it in Afrimoney, QMoney, it still counts',
    'TX-20261120-101742-7KQ2M9XD',
    'TX-20261120-101500-3HJ8K2LW',
  ],
  'paid-after-leaving': [
    'PAID',
    'Do not approve the old request (Afrimoney .... 2345). If you approve both, you pay twice.',
  ],
  'asking-changeable': ['Do not pay again.', 'Only if no request reached your phone: Change number or network'],
  'enter_code-changeable': ['Nothing arrived?', 'Change number or network'],
  'choose-known-number': ['Afrimoney Likely yours', 'Pay D1,250.00'],
  enter_code: ['QMoney sent a code of 6 digits to .... 2345.', 'Never type your PIN here.'],
  send: [
    'In Wave, send exactly D450.00 to this number',
    'Number 700 1234',
    'Name Kairaba Books',
    'Where is the id?',
    'Transaction id from your message',
  ],
  'send-changeable': ['In Wave, send exactly D450.00', 'Change number or network'],
  'send-typed': [
    'We are looking for your payment',
    'Do not send again.',
    'You typed .... 2M4P.',
    'Is the id not right?',
  ],
  'send-typed-large': ['We are waiting for Wave’s statement', 'Do not send again.'],
  'send-typed-twice': ['This id was typed for another payment too.', 'Do not send again.'],
  'send-refused': ['do not send it again', 'No payment with this id and amount has arrived. 4 tries left.'],
  'send-expired': [
    'The time to pay is over',
    'If you have sent the money, do not send it again.',
    'Show Kairaba Bookshop the message from Wave.',
    'TX-20261120-101742-7KQ2M9XD',
  ],
  'send-expired-after-leaving': [
    'If you have sent the money, do not send it again.',
    'If you approved it in Afrimoney, it still counts',
    'Do not pay again before you know.',
  ],
  'send-cancelled': [
    'This payment was cancelled',
    'If you have sent the money, do not send it again.',
    'Show Kairaba Bookshop the message from Wave.',
  ],
  'send-closed': [
    'This form is closed',
    'Five ids were not right.',
    'do not send it again',
    'Show Kairaba Bookshop the message from Wave.',
  ],
  asking: ['We are asking Wave whether you have paid. Do not pay again.'],
  review: ['Another amount arrived than was asked for. The shop knows. Do not pay again.', 'Arrived D1,200.00'],
  paid: ['Paid to Kairaba Bookshop', 'Afrimoney .... 2345', 'TX-20261120-101742-7KQ2M9XD', '20 Nov 2026, 10:18'],
  'paid-at-counter': ['D1,250.00', 'M9XD', 'PAID', 'Counter Main counter · 12 s ago'],
  'paid-with-fee': ['Amount D450.00', 'Fee D9.00', 'Total D459.00'],
  'paid-other-amount': ['D1,200.00', 'Asked for D1,250.00'],
  'paid-address-as-text': ['go back to Kairaba Bookshop at this address: intent://thanks/1042#Intent;scheme=kairaba'],
  'cancelled-address-as-text': ['You have not paid.', 'at this address: view-source:https://shop.example/basket?'],
  'paid-refunded': ['Refunded', 'Kairaba Bookshop returned this payment to you.'],
  'paid-partly-refunded': ['Partly returned', 'Kairaba Bookshop returned D250.00 of this payment to you.'],
  'paid-partly-reversed': ['Partly returned', 'Afrimoney took D1,000.00 of this payment back.'],
  reversed: ['Taken back by the network', 'Afrimoney took this payment back.'],
  'paid-with-answers': ['Student Awa Ceesay', 'Class 4B'],
  'choose-with-answers': ['Student Awa Ceesay', 'Class 4B'],
  failed: ['You have not paid', 'Not enough money in your Afrimoney wallet.', 'No tries are left.'],
  cancelled: ['This payment was cancelled', 'You have not paid.'],
  'cancelled-while-open': ['it still counts', 'Do not pay again before you know.'],
  'cancelled-after-leaving': ['If you approved it in Afrimoney, it still counts'],
  expired: ['The time to pay is over', '20 Nov 2026, 10:17'],
  'expired-while-open': ['it still counts', 'TX-20261120-101742-7KQ2M9XD'],
  'expired-without-links': ['You can close this page.'],
};

/** States in which the payer acts on the phone, so that the page links to the simulated one. */
const payerActs = /^(?:open_url|approve|enter_code)/;

for (const name of Object.keys(checkoutFixtures)) {
  test(`${name}: says what the payer needs`, async () => {
    const text = readableText(await (await fetch(`${server.baseUrl}/pay/${name}`)).text());
    for (const expected of words[name] ?? ['a state without words in this test']) {
      assert.ok(text.includes(expected.replaceAll(' ', '')), `"${expected}" in: ${text}`);
    }
    const offersPhone = text.includes('Openthesimulatedphone');
    assert.equal(offersPhone, payerActs.test(name), 'the simulated phone is offered where a tester must act');
  });
}

test('a network that has not responded is never shown as a failure', async () => {
  await using opened = await openPage();
  await opened.page.goto(`${server.baseUrl}/pay/asking`);
  assert.doesNotMatch(await opened.page.locator('main').innerText(), /fail|refus|declin|not made|not paid/i);
});

test('"not paid" is never said while an attempt that the payer has left may still succeed', async () => {
  for (const name of [
    'choose-after-second-refusal',
    'failed-after-leaving',
    'cancelled-after-leaving',
    'choose-after-leaving',
  ]) {
    const text = readableText(await (await fetch(`${server.baseUrl}/pay/${name}`)).text());
    assert.doesNotMatch(text, /notpaid|newpayment/, name);
  }
});

test('an attempt that the payer has left is no failure of the payer', async () => {
  const text = readableText(await (await fetch(`${server.baseUrl}/pay/choose-after-left-ended`)).text());
  assert.doesNotMatch(text, /cancelledbefore|Tryagain|triesleft/);
});

test('a receipt of money that was returned has no green seal', async () => {
  await using opened = await openPage();
  for (const name of ['paid-refunded', 'paid-partly-refunded', 'paid-partly-reversed', 'reversed']) {
    await opened.page.goto(`${server.baseUrl}/pay/${name}`);
    assert.equal(await opened.page.locator('.stamp').count(), 0, name);
    assert.doesNotMatch(await opened.page.locator('main').innerText(), /PAID/, name);
  }
  await opened.page.goto(`${server.baseUrl}/pay/paid`);
  assert.equal(await opened.page.locator('.stamp').count(), 1);
});

test('a live payment does not show test mode', async () => {
  await using opened = await openPage();
  await opened.page.goto(`${server.baseUrl}/pay/choose-live`);
  assert.doesNotMatch(await opened.page.locator('body').innerText(), /test mode|simulated/i);
});

test('the QR code appears on wide screens only and has the same URL as the link', async () => {
  await using wide = await openPage({ width: 1280, height: 800 });
  await wide.page.goto(`${server.baseUrl}/pay/open_url`);
  assert.equal(await wide.page.locator('svg.qr').isVisible(), true);
  await using narrow = await openPage();
  await narrow.page.goto(`${server.baseUrl}/pay/open_url`);
  assert.equal(await narrow.page.locator('svg.qr').isVisible(), false);
});

test('a receipt can be shared: by the phone’s own sheet, and by a WhatsApp link that needs no scripts', async () => {
  await using opened = await openPage({ scripts: false });
  await opened.page.goto(`${server.baseUrl}/pay/paid`);
  const link = new URL((await opened.page.getByRole('link', { name: 'Share on WhatsApp' }).getAttribute('href')) ?? '');
  assert.equal(link.origin, 'https://wa.me');
  assert.equal(link.searchParams.get('text'), `Receipt: D1,250.00, Kairaba Bookshop ${server.baseUrl}/pay/paid`);
  assert.equal(await opened.page.locator('[data-share]').isVisible(), false);
  await using scripted = await openOwnPage();
  await scripted.page.addInitScript('navigator.share = async (sheet) => { globalThis.shared = sheet; }');
  await scripted.page.goto(`${server.baseUrl}/pay/paid`);
  await scripted.page.getByRole('button', { name: 'Share' }).click();
  assert.equal(await scripted.page.evaluate('shared.url'), `${server.baseUrl}/pay/paid`);
});

test('a printed receipt has the payment’s details and no controls', async () => {
  await using opened = await openPage();
  await opened.page.goto(`${server.baseUrl}/pay/paid`);
  await opened.page.emulateMedia({ media: 'print' });
  const text = await opened.page.locator('body').innerText();
  for (const shownText of [
    'Receipt',
    '/pay/paid',
    'Issued by',
    'Kairaba Bookshop',
    'D1,250',
    'TX-20261120-101742-7KQ2M9XD',
  ])
    assert.ok(text.includes(shownText));
  assert.equal(await opened.page.getByRole('link').count(), 0);
  assert.equal(await opened.page.getByRole('button').count(), 0);
  const title = await opened.page.getByText('Receipt', { exact: true }).boundingBox();
  assert.ok(title && title.y < 40, 'it starts at the top of the paper');
});

test('a description keeps the line breaks that the merchant wrote', async () => {
  await using opened = await openPage();
  for (const [path, lines] of [
    ['/pay/choose-with-answers', 'Two school books\nDelivered to Bakau'],
    ['/link/open', 'Say whose fees they are, so that we can find your child.\nPay before 15 January.'],
  ] as const) {
    await opened.page.goto(server.baseUrl + path);
    assert.equal(await opened.page.locator('.description').innerText(), lines);
  }
});

test('the number and the amount to send are copied as the network’s app takes them', async () => {
  await using opened = await openOwnPage();
  const { page, context } = opened;
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${server.baseUrl}/pay/send`);
  const copied: string[] = [];
  for (const button of await page.locator('[data-copy]').all()) {
    await button.click();
    await page.getByText('✓').nth(copied.length).waitFor();
    copied.push(await page.evaluate<string>('navigator.clipboard.readText()'));
  }
  assert.deepEqual(copied, ['7001234', '450.00']);
  assert.deepEqual(opened.pageErrors, []);
});

test('without scripts a payer reads what to send, sees no dead button, and a typed id is looked for again', async () => {
  await using opened = await openPage({ scripts: false });
  const { page } = opened;
  await page.goto(`${server.baseUrl}/pay/send`);
  assert.equal(await page.getByText('700 1234').isVisible(), true);
  assert.equal(await page.locator('[data-copy]').first().isVisible(), false);
  const refreshes = async (name: string) =>
    /http-equiv="?refresh/.test(await (await fetch(`${server.baseUrl}/pay/${name}`)).text());
  assert.deepEqual(
    [await refreshes('send'), await refreshes('send-typed'), await refreshes('send-closed')],
    [false, true, false],
  );
});

test('a payer who may have sent the money reads neither “not paid” nor that the network is asked', async () => {
  for (const name of ['send-expired', 'send-cancelled']) {
    const text = readableText(await (await fetch(`${server.baseUrl}/pay/${name}`)).text());
    assert.doesNotMatch(text, /Youhavenotpaid|weareasking/i, name);
  }
});

test('a payer who may have sent the money sees no time run out and no way to send again', async () => {
  for (const name of ['send-typed', 'send-typed-large', 'send-typed-twice', 'send-closed']) {
    const page = await (await fetch(`${server.baseUrl}/pay/${name}`)).text();
    const main = /<main[^]*<\/main>/.exec(page)?.[0] ?? '';
    assert.match(main, /send/, name);
    assert.doesNotMatch(main, /data-left-ms|name="transaction_id"|T_QK7H/, name);
  }
});
