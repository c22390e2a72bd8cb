import { listMerchants } from '../merchants/manage-keys.ts';
import type { Merchant } from '../merchants/merchant.ts';
import { UsageError } from './command.ts';
import type { CommandContext, CommandInput } from './command.ts';

/** The merchant that `--merchant` names, by its id or its short id. Throws UsageError when there is none. */
export async function merchantOf({ db }: CommandContext, { options }: CommandInput): Promise<Merchant> {
  const wanted = options['merchant'];
  const merchant = (await listMerchants(db)).find(({ id, shortId }) => id === wanted || shortId === wanted);
  if (!merchant) throw new UsageError(`There is no merchant ${wanted}. See: businesses list`);
  return merchant;
}
