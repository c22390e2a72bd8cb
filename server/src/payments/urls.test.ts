import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../api/app-error.ts';
import { outboundPolicy } from '../api/urls.ts';
import { checkPageUrl, checkUrls, returnLink } from './urls.ts';

const policy = outboundPolicy({ production: true, testMode: false });

function refusal(url: string): string | null {
  try {
    checkPageUrl(policy, { path: 'data.return_url', url });
    return null;
  } catch (error) {
    assert.ok(error instanceof AppError);
    return error.message;
  }
}

test('a page’s URL has at most 2,048 characters as sent, with any letters and port', () => {
  const start = 'https://shop.gm:8448/';
  for (const letter of ['a', 'ŋ']) {
    assert.equal(refusal(start.padEnd(2_048, letter)), null);
    assert.match(refusal(start.padEnd(2_049, letter)) ?? '', /2048 characters/);
  }
});

test('a page’s URL on a private host, with a login, without TLS or of a dangerous scheme is refused', () => {
  for (const url of [
    'https://127.1:8448/ok',
    'https://user:secret@shop.gm/ok',
    'http://shop.gm/ok',
    'java\tscript:1',
  ]) {
    assert.notEqual(refusal(url), null, url);
  }
});

const asSent = [
  ...[' https://shop.gm/', 'https://shop.gm/ ', '\thttps://shop.gm/', 'https://shop\n.gm/', 'https://shop.gm/a\r\nb'],
  ...[
    'https://shop.gm\\@evil.gm/',
    'https:\\\\shop.gm/',
    'https://shop.gm/a\\b',
    'https://shop.gm/\u0000',
    'https://shop.gm/a b',
  ],
];

test('a URL that a browser reads differently than sent is refused, for pages and callbacks', () => {
  for (const url of asSent) {
    assert.match(refusal(url) ?? '', /complete web address/, JSON.stringify(url));
    for (const name of ['returnUrl', 'cancelUrl', 'callbackUrl'] as const) {
      const urls = { returnUrl: null, cancelUrl: null, callbackUrl: null, [name]: url };
      assert.throws(
        () => checkUrls(policy, { ...urls, skipUrlValidation: false }),
        AppError,
        `${name} ${JSON.stringify(url)}`,
      );
      checkUrls(policy, { ...urls, skipUrlValidation: true });
    }
  }
});

test('a page’s URL on a name of local networks is refused', () => {
  for (const host of ['shop.test', 'shop.onion', 'shop.svc', 'shop.internal', 'shop']) {
    assert.match(refusal(`https://${host}/thanks`) ?? '', /private network/, host);
  }
});

test('a return URL keeps its own query as it was written, without what has the name of a parameter', () => {
  const own = 'name=Awa%20Ceesay&/orders/1042&flag&signature=~';
  assert.equal(
    returnLink(`shop://done?status=old&${own}`, { payment_intent_id: 'an id', status: 'failed' }),
    `shop://done?${own}&payment_intent_id=an+id&status=failed`,
  );
});

test('a return URL gets its parameters if it can be linked, else stays as it was sent', () => {
  const status = { status: 'successful' };
  assert.equal(returnLink('https://shop.gm/?a=b#c', status), 'https://shop.gm/?a=b&status=successful#c');
  assert.equal(returnLink('shop://done', status), 'shop://done?status=successful');
  for (const url of [
    ...asSent,
    'feed://shop.gm/',
    'jar://shop.gm/',
    'intent://done#Intent;scheme=shop;end',
    'shop:done',
  ]) {
    assert.equal(returnLink(url, status), url);
  }
  assert.equal(returnLink(null, status), null);
});
