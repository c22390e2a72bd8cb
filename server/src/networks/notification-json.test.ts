import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProviderNotification } from './contract.ts';
import { readNotifications, writeNotifications } from './notification-json.ts';

test('a stored notification is read back unchanged, amounts exactly', () => {
  const providerTransaction = {
    transactionId: 'T1',
    networkReference: 'cos-1',
    amountMinor: 900_719_925_474_099_312_345n,
    currency: 'GMD',
    networkFeeMinor: 0n,
    payerNumber: null,
  };
  const notifications: ProviderNotification[] = [
    { operation: 'collection', reference: 'Shop1234abc', response: { state: 'succeeded', providerTransaction } },
    { operation: 'payout', reference: 'Shop1234def', response: { state: 'unknown', detail: '{"bigint":"1"}' } },
  ];
  assert.deepEqual(readNotifications(writeNotifications(notifications)), notifications);
});

test('a notification stored before payouts existed is read as a collection’s', () => {
  const [notifications] = readNotifications('[{"reference":"Shop1234abc","answer":{"state":"processing"}}]');
  assert.deepEqual(notifications, {
    operation: 'collection',
    reference: 'Shop1234abc',
    response: { state: 'processing' },
  });
});
