import { listMerchants } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import type { ConsoleVisit } from '../visit.ts';

/** The merchants of an environment by their ids, oldest first. */
export async function merchantsOf({ money, environment }: ConsoleVisit): Promise<ReadonlyMap<string, Merchant>> {
  const merchants = (await listMerchants(money.db)).filter(({ testMode }) => testMode === (environment === 'test'));
  return new Map(merchants.map((merchant) => [merchant.id, merchant]));
}
