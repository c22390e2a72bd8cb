import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../api/schema-check.ts';
import { failureCodes } from '../contract.ts';
import { findKnownNetwork } from '../known-networks.ts';
import { readConfiguration } from '../read-configuration.ts';

// What the provider's documents leave open (docs/networks.md, "54Pay"), with what we assume. Each is a setting of the account.

const text = (maxLength: number) => Type.String({ maxLength });
const path = Type.String({ pattern: '^/', maxLength: 200 });
const wordsFor = <const Meaning extends string>(meanings: readonly Meaning[]) =>
  Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Type.Enum([...meanings, ...failureCodes]));
const seconds = Type.Number({ exclusiveMinimum: 0 });

/** How one network of the provider collects. */
const payinNetwork = Type.Object(
  { network: Type.String({ minLength: 1 }), operatorCode: Type.Enum(['GMWAV', 'GMAFR', 'GMQMO']) },
  { additionalProperties: false },
);

const payinConfiguration = Type.Object({
  networks: Type.Array(payinNetwork, { minItems: 1, maxItems: 3 }),
  numberForm: Type.Object(
    { prefix: Type.Enum(['+220', '220', '']), digits: Type.Enum(['new', 'old']) },
    { additionalProperties: false },
  ),
  /** `requestHeader`, and the type of a transaction. */
  ...{ clientId: text(200), requestType: text(20), transactionType: text(20) },
  /** The provider wants a name and an address for each payer; we pass on neither. */
  ...{ customerName: text(100), customerEmail: text(200) },
  /** In the path of the status query, `{reference}` stands for our reference. */
  ...{ payinPath: path, completePath: path, statusPath: path },
  /** Statuses, in upper case. Any other is unknown. */
  statuses: wordsFor(['pending', 'succeeded', 'reversed']),
  /** Meanings of `failedReason`, in upper case; any other reason of a failed request is a refusal without details. */
  failedReasons: wordsFor(['duplicate', 'not_found', 'code_refused', 'configuration']),
  /** Whether `amount_received` is what the payer paid, or what is left of it after `transaction_fee`. */
  amountReceived: Type.Enum(['gross', 'net']),
  lookUpSeconds: Type.Array(seconds, { minItems: 1 }),
  recheckSeconds: Type.Array(seconds),
  notFoundIsFinalSeconds: seconds,
});

export type PayinNetwork = Static<typeof payinNetwork>;
export type PayinOptions = Static<typeof payinConfiguration>;

/** What an account has unless its options say otherwise. */
export const defaultPayinOptions: PayinOptions = {
  networks: [
    { network: 'wave', operatorCode: 'GMWAV' },
    { network: 'afrimoney', operatorCode: 'GMAFR' },
    { network: 'qmoney', operatorCode: 'GMQMO' },
  ],
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
  lookUpSeconds: [5, 10, 20, 30, 60],
  notFoundIsFinalSeconds: 600,
  recheckSeconds: [3_600, 86_400],
};

const isConfiguration = createSchemaCheck(Type.Partial(payinConfiguration, { additionalProperties: false }));

/** Throws an Error that names the first wrong setting. */
export function readPayinOptions(value: unknown): PayinOptions {
  const changes = readConfiguration('54Pay', isConfiguration, value);
  const options = {
    ...defaultPayinOptions,
    ...changes,
    statuses: { ...defaultPayinOptions.statuses, ...changes.statuses },
    failedReasons: { ...defaultPayinOptions.failedReasons, ...changes.failedReasons },
  };
  const unknown = options.networks.find(({ network }) => !findKnownNetwork(network));
  if (unknown) throw new Error(`The configuration of 54Pay names no network of this service: ${unknown.network}.`);
  return options;
}
