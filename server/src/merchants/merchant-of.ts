import { AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import type { Caller } from '../api/route.ts';
import type { MerchantDirectory } from './merchant-directory.ts';
import type { Merchant } from './merchant.ts';

/** The merchant of an authenticated caller, with its settings. Writing routes pass their `tx`. */
export async function merchantOf(
  context: { merchants: MerchantDirectory },
  caller: Caller,
  tx?: Queryable,
): Promise<Merchant> {
  const merchant = await context.merchants.byId(caller.merchantId, tx);
  if (!merchant)
    throw new AppError(
      'api_key_invalid',
      'This API key is not valid. Check that it was copied whole and is not revoked.',
    );
  return merchant;
}
