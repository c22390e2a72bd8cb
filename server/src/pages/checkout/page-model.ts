import type { Html } from '../../kit/html.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';

/** What a page is drawn from: the payment, the moment, and what the request before it left to say. */
export interface CheckoutPageModel {
  view: CheckoutView;
  now: Date;
  /** `/pay/<token>`, without a host. */
  path: string;
  /** The hidden field that shows that a form is ours. */
  formProof: Html;
  /** Where a tester plays this payment's phone; null in live and where nothing waits for a phone. */
  simulatedPhoneUrl: string | null;
  /** What was wrong with the form just sent, and what stood in it. */
  refusedForm: RefusedForm | null;
  /** The payer has just said that the approval is done. */
  justConfirmed: boolean;
}

export interface RefusedForm {
  network: string;
  accountNumber: string;
  errors: { field: 'network' | 'account_number' | 'code' | null; message: string }[];
}
