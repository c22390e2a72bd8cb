import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallbackNews } from './contract.ts';
import { readNews, writeNews } from './news-text.ts';

test('what a callback said is read back as it was, amounts exactly', () => {
  const receipt = {
    transactionId: 'T1',
    networkReference: 'cos-1',
    amountMinor: 900_719_925_474_099_312_345n,
    currency: 'GMD',
    networkFeeMinor: 0n,
    payerNumber: null,
  };
  const news: CallbackNews[] = [
    { operation: 'collection', reference: 'Shop1234abc', answer: { state: 'succeeded', receipt } },
    { operation: 'payout', reference: 'Shop1234def', answer: { state: 'unknown', detail: '{"bigint":"1"}' } },
  ];
  assert.deepEqual(readNews(writeNews(news)), news);
});

test('what was stored before there were payouts is about a collection', () => {
  const [news] = readNews('[{"reference":"Shop1234abc","answer":{"state":"processing"}}]');
  assert.deepEqual(news, { operation: 'collection', reference: 'Shop1234abc', answer: { state: 'processing' } });
});
