import { UsageError, type CommandInput } from '../kit/command-line.ts';
import { isUuid } from '../kit/ids.ts';
import type { Queryable } from '../kit/db.ts';
import { findMerchantById, findMerchantByShortId, listMerchants } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';

/** The merchant that `--merchant` names, by its id or its short id. Throws UsageError when there is none. */
export async function merchantOf({ db }: { db: Queryable }, { options }: CommandInput): Promise<Merchant> {
  const idOrShortId = options['merchant'] ?? '';
  const merchant = await (isUuid(idOrShortId)
    ? findMerchantById(db, idOrShortId)
    : findMerchantByShortId(db, idOrShortId));
  if (!merchant) throw new UsageError(`There is no merchant ${idOrShortId}. See: businesses list`);
  return merchant;
}

/** A merchant for people: `Kairaba Books (test)`. */
export function merchantInWords({ name, testMode }: Pick<Merchant, 'name' | 'testMode'>): string {
  return `${name} (${testMode ? 'test' : 'live'})`;
}

/** The same for all merchants, by id. */
export async function merchantNames(db: Queryable): Promise<ReadonlyMap<string, string>> {
  return new Map((await listMerchants(db)).map((merchant) => [merchant.id, merchantInWords(merchant)]));
}
