import type { PaymentContext } from '../payments/context.ts';
import type { TransferContext } from '../transfers/context.ts';

/** What refunds work with: they change a payment, and go out as transfers. */
export type RefundContext = PaymentContext & TransferContext;
