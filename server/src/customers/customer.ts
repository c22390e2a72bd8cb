import type { JsonRecord } from '../events/kinds.ts';
import type { EventContext } from '../events/append-event.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { ListReader } from '../api/list-reader.ts';

/** A person whom a merchant has stored. A deleted customer is never read as this. */
export interface Customer {
  merchantId: string;
  id: string;
  name: string;
  email: string | null;
  /** As it was sent. */
  phone: string | null;
  metadata: JsonRecord;
  eventSequence: bigint;
  createdAt: Date;
  updatedAt: Date;
}

export interface CustomerContext extends EventContext {
  db: Database;
  lists: ListReader;
  /** Erases the person's details from the customer's payments, which belong to a higher level. */
  forgetInPayments: (tx: Transaction, customer: { merchantId: string; id: string }) => Promise<void>;
}
