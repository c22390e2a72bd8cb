import { createHmac } from 'node:crypto';
import { testMessageKit } from '../message-kit.corpus.ts';
import { createReceiptsConnector } from './connector.ts';

const key = 'a device key of the tests';
const ageMaxMs = 72 * 60 * 60_000;
const receivedAt = new Date('2026-11-20T12:00:00Z');
const seconds = String(receivedAt.getTime() / 1_000);

const sign = (body: Uint8Array) => {
  const signature = createHmac('sha256', key).update(body).update(seconds).digest('hex');
  return { headers: { 'x-signature': signature, 'x-timestamp': seconds }, query: {}, body, receivedAt };
};

testMessageKit('Receipts', () => {
  const message =
    'You received D450.00 from Awa Ceesay (7001234). Transaction ID: T_QK7H2M4P. New balance: D12,380.50.';
  const payload = { message, phoneNumber: 'Wave', receivedAt: receivedAt.toISOString() };
  return {
    connector: createReceiptsConnector({
      ...{ railAccount: 'kairaba-wave', network: 'wave', testMode: false, merchantId: 'm', number: '7001234' },
      ...{ holder: 'Kairaba Books', amountStepMinor: 100n, messageAgeMaxMs: ageMaxMs, keysAt: () => [key] },
    }),
    collection: {
      ...{ reference: 'mUXjX4WkHw0nCURSw1sMjfciYRtSYM', amountMinor: 45_000n, currency: 'GMD', payerNumber: null },
      ...{ payerNumberAsSent: null, description: 'Books', expiresAt: receivedAt, returnUrl: '', callbackUrl: '' },
    },
    forwarded: sign(Buffer.from(JSON.stringify({ event: 'sms:received', payload }))),
    ...{ sign, ageMaxMs },
  };
});
