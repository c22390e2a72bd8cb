import type { FailureCode } from '../contract.ts';
import type { NumberForm } from '../wire-number.ts';

// What the provider's documents leave open (docs/networks.md, "54Pay"), with what we assume. Each is a setting of the account.

/** How one network of the provider collects. */
export interface PayinNetwork {
  network: string;
  operatorCode: 'GMWAV' | 'GMAFR' | 'GMQMO';
}

export interface PayinOptions {
  networks: readonly PayinNetwork[];
  currency: string;
  amountStepMinor: bigint;
  numberForm: NumberForm;
  /** `requestHeader`, and the type of a transaction. */
  clientId: string;
  requestType: string;
  transactionType: string;
  /** The provider wants a name and an address for each payer; we pass on neither. */
  customerName: string;
  customerEmail: string;
  payinPath: string;
  completePath: string;
  /** The path of the status query; `{reference}` stands for our reference. */
  statusPath: string;
  /** Statuses, in upper case. Any other is unknown. */
  statuses: Readonly<Record<string, 'pending' | 'succeeded' | 'reversed' | FailureCode>>;
  /** Meanings of `failedReason`, in upper case; any other reason of a failed request is a refusal without details. */
  failedReasons: Readonly<Record<string, FailureCode | 'duplicate' | 'not_found' | 'code_refused' | 'configuration'>>;
  /** Whether `amount_received` is what the payer paid, or what is left of it after `transaction_fee`. */
  amountReceived: 'gross' | 'net';
  lookUpDelaysMs: readonly number[];
  notFoundIsFinalAfterMs: number;
  recheckAfterMs: readonly number[];
}

/** What an account has unless its options say otherwise. */
export const defaultPayinOptions: PayinOptions = {
  networks: [
    { network: 'wave', operatorCode: 'GMWAV' },
    { network: 'afrimoney', operatorCode: 'GMAFR' },
    { network: 'qmoney', operatorCode: 'GMQMO' },
  ],
  currency: 'GMD',
  amountStepMinor: 100n,
  numberForm: { prefix: '220', digits: 'old' },
  clientId: '',
  requestType: 'B',
  transactionType: '1',
  customerName: 'Customer',
  customerEmail: '',
  payinPath: '/collection/v1/payin',
  completePath: '/collection/v1/complete-payin',
  statusPath: '/collection/v1/status?transactionReference={reference}',
  statuses: { PENDING: 'pending', COMPLETED: 'succeeded', FAILED: 'refused_by_network', REVERSED: 'reversed' },
  failedReasons: {
    'DUPLICATE REFERENCE': 'duplicate',
    'INCORRECT SECURITY MODULE': 'configuration',
    'TRANSACTION NOT FOUND': 'not_found',
    'INVALID OTP': 'code_refused',
  },
  amountReceived: 'gross',
  lookUpDelaysMs: [5_000, 10_000, 20_000, 30_000, 60_000],
  notFoundIsFinalAfterMs: 10 * 60_000,
  recheckAfterMs: [60 * 60_000, 24 * 60 * 60_000],
};
