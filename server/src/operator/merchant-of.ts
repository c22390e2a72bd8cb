import { UsageError } from '../kit/command-line.ts';
import type { CommandInput } from '../kit/command-line.ts';
import { isUuid } from '../kit/ids.ts';
import { findMerchantById, findMerchantByShortId } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { CommandContext } from './command.ts';

/** The merchant that `--merchant` names, by its id or its short id. Throws UsageError when there is none. */
export async function merchantOf({ db }: CommandContext, { options }: CommandInput): Promise<Merchant> {
  const wanted = options['merchant'] ?? '';
  const merchant = await (isUuid(wanted) ? findMerchantById(db, wanted) : findMerchantByShortId(db, wanted));
  if (!merchant) throw new UsageError(`There is no merchant ${wanted}. See: businesses list`);
  return merchant;
}
