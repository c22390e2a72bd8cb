import type { NewPayment } from '../payments/create-payment.ts';

/**
 * What a payment that its payer began has not: nobody's server asked for it, and network and number are chosen on the
 * page that follows. The URLs of a link were judged when it was saved.
 */
export const byPayer = {
  currency: null,
  returnUrl: null,
  cancelUrl: null,
  callbackUrl: null,
  skipUrlValidation: true,
  network: null,
  accountNumber: null,
  description: null,
  customerId: null,
  customerName: null,
  customerEmail: null,
  customerPhone: null,
  paymentMethods: null,
  split: null,
} satisfies Partial<NewPayment>;
