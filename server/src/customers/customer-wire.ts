import Type from 'typebox';
import type { Caller } from '../api/route.ts';
import { idType, ignoredType, metadataType, optional, orNull, textType, timeType } from '../api/wire-types.ts';
import type { JsonRecord } from '../events/kinds.ts';
import type { Customer } from './customer.ts';

/** The customer as the API and events show it. */
export function customerToWire(caller: Caller, customer: Customer): JsonRecord {
  return {
    id: customer.id,
    name: customer.name,
    email: customer.email,
    phone: customer.phone,
    metadata: customer.metadata,
    test_mode: caller.testMode,
    createdAt: customer.createdAt.toISOString(),
    updatedAt: customer.updatedAt.toISOString(),
  };
}

/** What of this a deletion erases in earlier events, by what stands there instead: the form of the record stays. */
export const erasedFields: JsonRecord = { name: '', email: null, phone: null, metadata: {} };

const nameLengthMax = 200;
const emailLengthMax = 254;
const phoneLengthMax = 32;

const nameType = textType('The customer’s name.', nameLengthMax);
const contactFields = {
  email: optional(
    Type.String({ format: 'email', maxLength: emailLengthMax, description: 'The customer’s email address.' }),
  ),
  phone: optional(
    textType(
      'The customer’s phone number: Gambian in any usual form, or foreign with + and its country code.',
      phoneLengthMax,
    ),
  ),
  metadata: optional(metadataType),
};

export const newCustomerSchema = Type.Object(
  {
    name: nameType,
    ...contactFields,
    metadata: optional(metadataType, { default: {} }),
    config: optional(
      Type.Object(
        {
          distinct: optional(
            Type.Boolean({
              description:
                'If true, returns the existing customer with the same email or phone, with status 200, instead of ' +
                'creating another.',
            }),
            { default: false },
          ),
        },
        { description: 'Other settings are ignored.' },
      ),
      { default: {} },
    ),
  },
  { additionalProperties: false },
);

export const customerChangeSchema = Type.Object(
  {
    name: Type.Optional(nameType),
    ...contactFields,
    config: ignoredType,
  },
  { additionalProperties: false },
);

export const customerSchema = Type.Object(
  {
    id: idType('The customer.'),
    name: Type.String(),
    email: orNull(Type.String()),
    phone: orNull(Type.String({ description: 'As you sent it.' })),
    metadata: Type.Record(Type.String(), Type.Unknown()),
    test_mode: Type.Boolean(),
    createdAt: timeType('When it was created.'),
    updatedAt: timeType('When it last changed.'),
  },
  { title: 'Customer' },
);
