import type { Queryable } from '../kit/db.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { paymentSearchOf } from '../payments/payment-search.ts';
import {
  findRecordsById,
  findRecordsByNetworkId,
  findRecordsByNumber,
  findRecordsByReference,
  type FoundRecord,
} from './queries/find-records.ts';

export type { FoundRecord } from './queries/find-records.ts';

interface FindContext {
  db: Queryable;
  networks: NetworkRegistry;
}

/** The record of any merchant with exactly this id, or with an attempt of this id; undefined where there is none. */
export async function findRecord(db: Queryable, testMode: boolean, id: string): Promise<FoundRecord | undefined> {
  const found = await findRecordsById(db, { testMode, id });
  // A refund has the id of its transfer, and an attempt that of no payment.
  return found[0];
}

/**
 * Records of all merchants of an environment: by id, by our reference or the network's, or by a number in any form; the newest
 * first. Words are no search across all merchants: a merchant's own list finds them.
 */
export async function findRecords(
  { db, networks }: FindContext,
  { testMode, term, rowsMax }: { testMode: boolean; term: string; rowsMax: number },
): Promise<FoundRecord[]> {
  const search = paymentSearchOf(term);
  if (search.kind === 'id') return findRecordsById(db, { testMode, id: search.id });
  const railAccounts = networks.list(testMode).map(({ capabilities }) => capabilities.railAccount);
  const byReference = [
    ...(await findRecordsByReference(db, { testMode, reference: term })),
    ...(await findRecordsByNetworkId(db, { railAccounts, transactionId: term })),
  ];
  if (byReference.length > 0 || search.kind !== 'number') return distinct(byReference).slice(0, rowsMax);
  const { canonical, digits } = search;
  return findRecordsByNumber(db, { testMode, canonical, digits, rowsMax });
}

/** The merchant's records whose money moved in the network's transaction of this id. */
export async function findRecordsOfTransaction(
  { db, networks }: FindContext,
  { id, testMode }: { id: string; testMode: boolean },
  transactionId: string,
): Promise<FoundRecord[]> {
  const railAccounts = networks.list(testMode).map(({ capabilities }) => capabilities.railAccount);
  const records = await findRecordsByNetworkId(db, { railAccounts, transactionId });
  return distinct(records.filter(({ merchantId }) => merchantId === id));
}

function distinct(records: readonly FoundRecord[]): FoundRecord[] {
  return [...new Map(records.map((record) => [record.id, record])).values()];
}
