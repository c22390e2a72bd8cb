import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../kit/app-error.ts';
import { outboundPolicy } from '../kit/outbound-guard.ts';
import { checkPageUrl } from './urls.ts';

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

test('a page’s address has 2,048 characters as it was sent, whatever letters and port it has', () => {
  const start = 'https://shop.gm:8448/';
  for (const letter of ['a', 'ŋ']) {
    assert.equal(refusal(start.padEnd(2_048, letter)), null);
    assert.match(refusal(start.padEnd(2_049, letter)) ?? '', /2048 characters/);
  }
});

test('whatever its path and port, a page is no address of ours, no login and no program', () => {
  for (const url of [
    'https://127.1:8448/ok',
    'https://user:secret@shop.gm/ok',
    'http://shop.gm/ok',
    'java\tscript:1',
  ]) {
    assert.notEqual(refusal(url), null, url);
  }
});
