import assert from 'node:assert/strict';
import { test } from 'node:test';
import { browserSchemes, isLinkableUrl } from './linkable-url.ts';
import { seededRandom } from './random.ts';

const fallback = (url: string) => `S.browser_fallback_url=${encodeURIComponent(url)};`;
const intent = (fields: string) => `intent://done#Intent;${fields}end`;

test('web addresses and apps’ own links may be linked', () => {
  for (const url of [
    ...[
      'https://shop.example/a?b=c#d',
      'HTTP://localhost:3000/',
      'shop://done',
      'SHOP://done?order=1',
      'gm.shop.app://x',
    ],
    ...['shop+pay://', 'com.shop-app://return/1', 'market://details?id=gm.shop', 'https://shop.example/javascript:1'],
  ]) {
    assert.equal(isLinkableUrl(url), true, url);
  }
});

test('no scheme that browsers handle themselves is linked, however it is written', () => {
  assert.ok(browserSchemes.size > 90);
  const prefixed = [
    'chrome',
    'chrome-extension',
    'chrome-untrusted',
    'moz-extension',
    'ms-settings',
    'ms-msdt',
    'itms-services',
    'itms-apps',
    'web+shop',
  ];
  for (const scheme of [...browserSchemes, ...prefixed]) {
    for (const rest of ['alert(1)', '//alert(1)', '//%0aalert(1)', '//shop.example/', 'https://shop.example/']) {
      for (const url of [`${scheme}:${rest}`, `${scheme.toUpperCase()}:${rest}`]) {
        assert.equal(isLinkableUrl(url), false, url);
      }
    }
  }
});

test('a script’s scheme is not linked, whatever is between its characters', () => {
  const random = seededRandom('linkable');
  const between = [
    '\t',
    '\n',
    '\r',
    ' ',
    '\0',
    '\u0001',
    '\u001f',
    '\u007f',
    '\u0085',
    '\u00a0',
    '\ufeff',
    '\\',
    '\u2028',
  ];
  for (const script of ['javascript://%0aalert(1)', 'vbscript://x', 'data://text/html,x', 'view-source://shop.gm/']) {
    for (let position = 0; position <= script.indexOf('//') + 2; position += 1) {
      for (const character of between) {
        const drawn = character.repeat(1 + ((random.bytes(1)[0] ?? 0) % 3));
        const url = script.slice(0, position) + drawn + script.slice(position);
        assert.equal(isLinkableUrl(url), false, JSON.stringify(url));
      }
    }
  }
});

test('an opaque or incomplete address is not linked', () => {
  for (const url of [
    '',
    'nothing',
    '/pay',
    '//shop.example/',
    'https:shop',
    'https:/shop',
    'shop:done',
    'shop:/done',
    'https://',
  ]) {
    assert.equal(isLinkableUrl(url), false, url);
  }
});

test('an Android intent is linked only when its fallbacks are web pages and its scheme is no browser’s', () => {
  for (const url of [
    intent(`scheme=shop;package=gm.shop;${fallback('https://shop.gm/back')}`),
    `intent://#Intent;scheme=shop;${fallback('http://shop.gm/')}end`,
    intent(`scheme=shop;${fallback('https://one.gm/')}${fallback('https://two.gm/')}`),
  ]) {
    assert.equal(isLinkableUrl(url), true, url);
  }
  for (const url of [
    ...['intent://done', intent('scheme=shop;'), intent('S.browser_fallback_url=;'), intent('S.browser_fallback_url;')],
    ...['javascript:alert(1)', 'data:text/html,x', 'shop://done', 'file:///etc/hosts', ' https://shop.gm/'].map(
      (page) => intent(`scheme=shop;${fallback(page)}`),
    ),
    // Without a scheme, or without the slashes, the target itself would be opened as it stands.
    intent(fallback('https://shop.gm/')),
    ...['javascript:alert(1)', 'file:///sdcard/a.html', 'content://settings', ''].flatMap((target) => [
      `intent:${target}#Intent;${fallback('https://shop.gm/')}end`,
      `intent:${target}#Intent;scheme=shop;${fallback('https://shop.gm/')}end`,
    ]),
    intent(`scheme=shop;scheme=javascript;${fallback('https://shop.gm/')}`),
    intent(`scheme=shop;${fallback('javascript:alert(1)')}${fallback('https://shop.gm/')}`),
    intent(`scheme=shop;${fallback('https://shop.gm/')}S.browser%5Ffallback%5Furl=javascript:alert(1);`),
    ...['file', 'content', 'javascript', 'chrome', 'FILE', '%66ile'].map((scheme) =>
      intent(`scheme=${scheme};${fallback('https://shop.gm/')}`),
    ),
  ]) {
    assert.equal(isLinkableUrl(url), false, url);
  }
});
