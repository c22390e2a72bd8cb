import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openPage, type Page } from '../harness/browser.ts';
import { ReceiptsShop } from '../harness/receipts-shop.ts';

// A payer on the hosted page of a shop with its own number, and somebody else who has the link.

let shop: ReceiptsShop;

before(async () => {
  shop = await ReceiptsShop.start();
  await shop.connect();
});
after(async () => {
  await shop.stop();
});

/** From choosing the network on to the form for the transaction id. */
async function choose(page: Page): Promise<string> {
  const { body } = await shop.api.post('/v1/payments', { data: { amount: 450 } });
  const link = String(body['payment_link']).replace(/^https?:\/\/[^/]+/, shop.service.url);
  await page.goto(link);
  await page.getByRole('button', { name: 'Pay D450.00' }).click();
  await page.getByText('700 1234').waitFor();
  return link;
}

async function type(page: Page, id: string): Promise<void> {
  await page.getByLabel('Transaction id from your message').fill(id);
  await page.getByRole('button', { name: 'I have sent it' }).click();
}

for (const scripts of [true, false]) {
  test(`a payer corrects a wrong id, ${scripts ? 'with' : 'without'} scripts, and alone sees it whole`, async () => {
    const name = scripts ? 'JS' : 'NO';
    await using opened = await openPage({ width: 360, height: 740, scripts });
    const { page } = opened;
    const link = await choose(page);
    await shop.receive(`T_${name}OTHER`, '45.00');
    await type(page, `T_${name}OTHER`);
    await page.getByText('No payment with this id and amount has arrived. 4 tries left.').waitFor();
    assert.equal(await page.getByLabel('Transaction id from your message').inputValue(), `T_${name}OTHER`);
    await page.getByText('do not send it again').waitFor();
    await type(page, `T_${name}TYPO1`);
    await page.getByText(`You typed T_${name}TYPO1.`).waitFor();
    await page.getByRole('link', { name: 'Is the id not right?' }).click();
    await type(page, 'no id');
    await page.getByText('That is no transaction id.').waitFor();
    assert.equal(await page.getByText('send exactly').count(), 0, 'nothing says to send again');
    await type(page, `T_${name}RIGHT`);
    await page.getByText(`You typed T_${name}RIGHT.`).waitFor();
    const other = await (await fetch(link)).text();
    assert.ok(other.includes('You typed <b><bdi>.... IGHT'), 'others see the last characters');
    assert.ok(!other.includes(`T_${name}`), 'and no more');
    await shop.receive(`T_${name}RIGHT`);
    await shop.service.app.drain();
    if (!scripts) await page.getByRole('link', { name: 'Check again' }).click();
    await page.getByRole('heading', { name: 'Paid to Kairaba Books' }).waitFor();
  });
}

test('an id that turns out wrong while its page is open says why, until another one is typed', async () => {
  await using opened = await openPage({ width: 360, height: 740 });
  const { page } = opened;
  await choose(page);
  await type(page, 'T_LATEWRONG');
  await page.getByText('You typed T_LATEWRONG.').waitFor();
  await shop.receive('T_LATEWRONG', '449.00');
  await page.getByText('No payment with this id and amount has arrived. 4 tries left.').waitFor();
  assert.equal(
    await page.evaluate('document.activeElement.id'),
    'transaction_id',
    'a screen reader reads it, and not to send',
  );
  await page.reload();
  await page.getByText('No payment with this id and amount has arrived. 4 tries left.').waitFor();
});
