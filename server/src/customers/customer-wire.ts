import type { JsonRecord } from '../events/kinds.ts';
import type { Caller } from '../api/route.ts';
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
