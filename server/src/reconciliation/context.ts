import type { PaymentContext } from '../payments/context.ts';
import type { TransferContext } from '../transfers/context.ts';

/** What reconciling needs: the use-cases of payments and transfers, by which alone money moves. */
export type ReconciliationContext = PaymentContext & TransferContext;
