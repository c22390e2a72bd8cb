import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../api/schema-check.ts';
import { secondMs, hourMs } from '../../kit/clock.ts';
import { readConfiguration } from '../read-configuration.ts';

// What Wave's documents leave open for The Gambia (docs/networks.md, "Wave"), with what we assume. Each is a setting of the account.

const batchPaths = ['/v1/payout-batch', '/v1/payouts-batch'] as const;
/** A batch whose response is lost leaves as many outcomes to be looked up. */
const batchMaxLimit = 100;

const aboveZero = Type.Number({ exclusiveMinimum: 0 });

const waveConfiguration = Type.Object({
  /** Whether requests without a body are signed too, where the key requires signatures. */
  signGets: Type.Boolean(),
  /** Whether only the wallet with the number that the payer gave may pay. */
  restrictPayer: Type.Boolean(),
  /** The form of mobile numbers; both work until the end of the migration. */
  numberDigits: Type.Enum(['new', 'old']),
  /** What a session means that has ended with a cancelled payment: the payer said no, or nobody paid in time. */
  cancelledSession: Type.Enum(['declined_by_payer', 'expired']),
  /** The most payouts of a batch; no limit is documented. */
  batchMax: Type.Integer({ minimum: 2, maximum: batchMaxLimit }),
  /** Where a batch is read: the documents write both. */
  batchPath: Type.Enum([...batchPaths]),
  /** The oldest webhook that is accepted. Wave does not say whether a redelivery is signed anew. */
  webhookAgeMaxSeconds: aboveZero,
  webhookFutureMaxSeconds: aboveZero,
});

/** What an operator may set for an account, and what follows from its other fields. */
export interface WaveOptions extends Static<typeof waveConfiguration> {
  /** The documents show a currency without decimals only, so whole dalasi unless Wave says otherwise. */
  amounts: 'whole' | 'bututs';
  collections: {
    lookUpDelaysMs: readonly number[];
    notFoundIsFinalAfterMs: number;
    /** Empty by default: each look costs a page of the day's transactions, and the daily statement has them too. */
    recheckAfterMs: readonly number[];
  };
  payouts: {
    lookUpDelaysMs: readonly number[];
    resendAfterMs: number;
    giveUpAfterMs: number;
    recheckAfterMs: readonly number[];
    breakerScope: 'network' | 'merchant_and_number';
  };
  /** Whether the payouts of a merchant that are due at once are sent in batches. */
  batches: boolean;
  refunds: {
    withinMs: number;
    recheckAfterMs: readonly number[];
  };
}

/** What an account has unless its options say otherwise. */
export const defaultWaveOptions: WaveOptions = {
  amounts: 'whole',
  signGets: true,
  restrictPayer: false,
  numberDigits: 'new',
  cancelledSession: 'expired',
  webhookAgeMaxSeconds: 300,
  webhookFutureMaxSeconds: 30,
  collections: {
    lookUpDelaysMs: [15, 30, 60, 120].map((seconds) => seconds * secondMs),
    notFoundIsFinalAfterMs: 120 * secondMs,
    recheckAfterMs: [],
  },
  payouts: {
    // Wave announces no outcome of a payout, and asks to begin with a second.
    lookUpDelaysMs: [1, 2, 4, 8, 16, 32, 60, 120, 300].map((seconds) => seconds * secondMs),
    // The key makes a repetition harmless, and Wave asks for it.
    resendAfterMs: 10 * secondMs,
    giveUpAfterMs: 24 * hourMs,
    // A payout can be reversed for three days.
    recheckAfterMs: [1, 24, 73].map((hours) => hours * hourMs),
    breakerScope: 'network',
  },
  batches: false,
  batchMax: batchMaxLimit,
  batchPath: batchPaths[0],
  refunds: { withinMs: 365 * 24 * hourMs, recheckAfterMs: [] },
};

const isConfiguration = createSchemaCheck(Type.Partial(waveConfiguration, { additionalProperties: false }));

/** What an operator has set. Throws an Error that names the first wrong setting. */
export function readWaveConfiguration(value: unknown): Partial<WaveOptions> {
  return readConfiguration('Wave', isConfiguration, value);
}

/** The options of an account: what it sets, and the defaults for the rest. */
export function waveOptions(changes: Partial<WaveOptions>): WaveOptions {
  return { ...defaultWaveOptions, ...changes };
}
