import { randomBytes } from 'node:crypto';
import type { Database } from '../../server/src/kit/db.ts';
import { createPayment, fromApi, type NewPayment } from '../../server/src/payments/create-payment.ts';
import { freshIds, recorder, recordingContext, type RecordedStep, type RecordedTransaction } from './recording.ts';

/** A shop's order, as the body of POST /v1/payments. */
export const creationBody = JSON.stringify({
  data: {
    amount: 450,
    title: 'Order 1042',
    return_url: 'https://shop.example/orders/1042',
    metadata: { order: '1042' },
  },
});

const creationRequest: NewPayment = {
  amountMinor: 45_000n,
  currency: null,
  returnUrl: 'https://shop.example/orders/1042',
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: false,
  network: null,
  accountNumber: null,
  title: 'Order 1042',
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  split: null,
  origin: fromApi,
  metadata: { order: '1042' },
};

// A checkout token starts with the merchant's short id.
const tokenHeadLength = 8;

/** Creates an intent by the service's own use case, and records the statements. */
export async function recordCreation(db: Database, merchantId: string): Promise<RecordedTransaction> {
  const ids: string[] = [];
  const context = recordingContext(db, ids);
  const merchant = await context.merchants.byId(merchantId);
  if (!merchant) throw new Error('there is no such merchant');
  const steps: RecordedStep[] = [];
  const { intent } = await db.withTransaction((tx) =>
    createPayment(recorder(tx, steps), context, merchant, creationRequest),
  );
  const { intentSecret: secret, checkoutToken: token } = intent;
  return {
    steps,
    freshValues: () => {
      const random = randomBytes(43).toString('hex');
      const tokenTail = random.slice(secret.length, secret.length + token.length - tokenHeadLength);
      return freshIds(ids)
        .set(secret, random.slice(0, secret.length))
        .set(token, token.slice(0, tokenHeadLength) + tokenTail);
    },
  };
}
