import type { JsonRecord } from '../events/kinds.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { ListReader } from '../kit/list-reader.ts';

/** Somebody a merchant knows. Deleted ones are nobody any more, and are never read as this. */
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

/** What the use-cases of customers work with. */
export interface CustomerContext extends WorkContext {
  db: Database;
  lists: ListReader;
  /** Takes the person out of the customer's payments, which stand above this part. */
  forgetInPayments: (tx: Transaction, customer: { merchantId: string; id: string }) => Promise<void>;
}
