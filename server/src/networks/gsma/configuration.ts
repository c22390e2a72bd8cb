import { Type, type Static } from 'typebox';
import { createSchemaCheck } from '../../api/schema-check.ts';
import { failureCodes } from '../contract.ts';
import { readConfiguration } from '../read-configuration.ts';

// What the API leaves to each provider, or what is not confirmed for any in The Gambia (docs/networks.md, "GSMA Mobile
// Money API"). Everything here is a setting of one account.

const failureCode = Type.Enum(failureCodes);

const networkConfiguration = Type.Object(
  {
    network: Type.String({ minLength: 1 }),
    collects: Type.Boolean(),
    paysOut: Type.Boolean(),
    refunds: Type.Enum(['none', 'whole', 'parts']),
    /** Hours after the payment in which the provider reverses it. */
    refundHours: Type.Integer({ minimum: 1 }),
    /** Where one API serves several institutions: sent in X-Account-Holding-Institution-Identifier and its -Type. */
    institution: Type.Union([Type.Null(), Type.Object({ type: Type.String(), identifier: Type.String() })]),
  },
  { additionalProperties: false },
);

const gsmaConfiguration = Type.Object(
  {
    networks: Type.Array(networkConfiguration, { minItems: 1, maxItems: 10 }),
    /**
     * `transactionStatus` is free text: what each word of this provider means, in lower case. A word that is not here is
     * unknown, and is looked up again.
     */
    statuses: Type.Record(
      Type.String({ minLength: 1, maxLength: 64 }),
      Type.Union([Type.Literal('pending'), Type.Literal('succeeded'), Type.Literal('reversed'), failureCode]),
    ),
    /** Meanings of this provider's error codes that differ from ours, or that the API does not list. */
    errors: Type.Record(Type.String({ minLength: 1, maxLength: 64 }), failureCode),
    identifier: Type.Object(
      {
        key: Type.String({ minLength: 1, maxLength: 64 }),
        prefix: Type.Enum(['+220', '220', '']),
        digits: Type.Enum(['new', 'old']),
      },
      { additionalProperties: false },
    ),
    /** Our own party of a transaction; null where the credential implies it. */
    ownParty: Type.Union([
      Type.Null(),
      Type.Object({ key: Type.String(), value: Type.String() }, { additionalProperties: false }),
    ]),
    amounts: Type.Object(
      { step: Type.Enum(['whole', 'bututs']), decimals: Type.Enum(['always', 'as_needed']) },
      { additionalProperties: false },
    ),
    /** Whether `fees` of a transaction are deducted from us; otherwise they are the payer's. */
    fees: Type.Enum(['ours', 'theirs']),
    /** Whether the provider may call us back; otherwise it has to be polled. */
    callbacks: Type.Boolean(),
    contentHash: Type.Boolean(),
    channel: Type.Union([Type.Null(), Type.String({ minLength: 1, maxLength: 64 })]),
    lookUpSeconds: Type.Array(Type.Number({ exclusiveMinimum: 0 }), { minItems: 1 }),
    recheckSeconds: Type.Array(Type.Number({ exclusiveMinimum: 0 })),
    notFoundIsFinalSeconds: Type.Number({ exclusiveMinimum: 0 }),
  },
  { additionalProperties: false },
);

export type GsmaConfiguration = Static<typeof gsmaConfiguration>;
export type GsmaNetwork = Static<typeof networkConfiguration>;

const isConfiguration = createSchemaCheck(gsmaConfiguration);

/** Throws an Error that names the first wrong setting. */
export function readGsmaConfiguration(value: unknown): GsmaConfiguration {
  return readConfiguration('the GSMA API', isConfiguration, value);
}
