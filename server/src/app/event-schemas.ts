import Type, { type TSchema } from 'typebox';
import { customerSchema } from '../customers/customer-wire.ts';
import type { EventKind } from '../events/kinds.ts';
import { idType } from '../api/wire-types.ts';
import { listedIntentSchema } from '../payments/intent-wire.ts';
import { chargeSchema } from '../payments/charge-wire.ts';
import { transferSchema } from '../transfers/transfer-wire.ts';
import { endpointSchema, envelopeFields } from '../webhooks/wire-schemas.ts';

const deletedCustomer = Type.Object({ id: idType('The customer.') }, { title: 'DeletedCustomer' });

/** The record of each kind of event. */
const records: Readonly<Record<EventKind, TSchema>> = {
  'payment_intent.created': listedIntentSchema,
  'payment_intent.cancelled': listedIntentSchema,
  'charge.succeeded': chargeSchema,
  'charge.failed': chargeSchema,
  'transfer.succeeded': transferSchema,
  'payment_intent.expired': listedIntentSchema,
  'charge.created': chargeSchema,
  'charge.reversed': chargeSchema,
  'transfer.created': transferSchema,
  'transfer.failed': transferSchema,
  'transfer.cancelled': transferSchema,
  'transfer.reversed': transferSchema,
  'charge.refunded': chargeSchema,
  'sub_account.payout.succeeded': transferSchema,
  'sub_account.payout.failed': transferSchema,
  'customer.created': customerSchema,
  'customer.updated': customerSchema,
  'customer.deleted': deletedCustomer,
  'webhook_endpoint.test': endpointSchema,
  'webhook_endpoint.failing': endpointSchema,
  'webhook_endpoint.disabled': endpointSchema,
};

/** The body of each kind of event, for the OpenAPI document. */
export const eventBodySchemas: Readonly<Record<string, TSchema>> = Object.fromEntries(
  Object.entries(records).map(([kind, record]) => [
    kind,
    Type.Object({ ...envelopeFields, event: Type.Literal(kind), data: record, payload: record }),
  ]),
);
