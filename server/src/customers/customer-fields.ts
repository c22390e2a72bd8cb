import type { Static } from 'typebox';
import { fieldError } from '../kit/app-error.ts';
import { checkMetadata } from '../kit/metadata.ts';
import { notBlank } from '../kit/not-blank.ts';
import type { Caller } from '../kit/route.ts';
import type { NewCustomer, CustomerChange } from './manage-customers.ts';
import { checkPhone } from './identities.ts';
import type { customerChangeSchema, newCustomerSchema } from './wire-schemas.ts';

/** Throws AppError `invalid_request` naming the field. */
export function newCustomerOf(caller: Caller, body: Static<typeof newCustomerSchema>): NewCustomer {
  const { name, ...rest } = changeOf(caller, body, '');
  if (name === undefined) throw fieldError('invalid_request', 'name', 'name is missing.');
  const { email = null, phone = null, metadata = {} } = rest;
  return { name, email, phone, metadata, distinct: body.config?.distinct ?? false };
}

/** What was sent, and nothing else. Throws AppError `invalid_request` naming the field. */
export function changeOf(
  caller: Caller,
  fields: Omit<Static<typeof customerChangeSchema>, 'config'>,
  prefix: string,
): CustomerChange {
  const { name, email, phone, metadata } = fields;
  const phoneRule = { strict: !caller.testMode, path: `${prefix}phone` };
  return {
    ...(name === undefined ? {} : { name: notBlank(name, `${prefix}name`) }),
    ...(email === undefined ? {} : { email }),
    ...(phone === undefined ? {} : { phone: phone === null ? null : checkPhone(phone, phoneRule) }),
    ...(metadata === undefined ? {} : { metadata: checkMetadata(metadata ?? {}, `${prefix}metadata`) }),
  };
}
