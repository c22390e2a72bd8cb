import type { Html } from '../../kit/html.ts';
import type { Language } from '../../languages/languages.ts';
import type { NetworkDetails } from '../logos/network-details.ts';
import type { PageAppearance } from '../merchant-appearance.ts';
import type { CheckoutView } from '../../payments/checkout-view.ts';

/** What a page is rendered from: the payment, the time, and the result of the form just sent. */
export interface CheckoutPageModel {
  view: CheckoutView;
  now: Date;
  language: Language;
  appearance: PageAppearance;
  networkDetails: NetworkDetails;
  /** `/pay/<token>`, without a host. */
  path: string;
  /** The same with our own host, for paper and for messages. */
  url: string;
  /** The hidden field that proves that a form is ours. */
  formProof: Html;
  /** The simulated phone of this payment; null in live and if the payment waits for no phone. */
  simulatedPhoneUrl: string | null;
  /** The errors and values of the form just sent. */
  refusedForm: RefusedForm | null;
  /** The payer has just confirmed the approval. */
  justConfirmed: boolean;
  /** Whether this browser typed the number of an attempt, and may see all of it. */
  hasTyped: (attemptId: string) => boolean;
  /** Whether this browser typed the transaction id that is looked for, and may see all of it. */
  hasTypedId: (attemptId: string, transactionId: string) => boolean;
  /** The payer corrects a transaction id that is being looked for. */
  correctsId: boolean;
  /** The network's app opens by itself: the payer has just pressed Pay, on a phone. */
  opensNetwork: boolean;
}

/** What a form that was accepted adds to the page after it. */
export type AfterForm = Partial<Pick<CheckoutPageModel, 'justConfirmed' | 'opensNetwork'>>;

export interface RefusedForm {
  network: string;
  accountNumber: string;
  transactionId: string;
  errors: { field: 'network' | 'account_number' | 'code' | 'transaction_id' | null; message: Html }[];
}
