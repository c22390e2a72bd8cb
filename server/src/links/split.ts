import { AppError } from '../api/app-error.ts';
import type { Queryable } from '../kit/db.ts';
import type { Merchant } from '../merchants/merchant.ts';
import type { PaymentContext } from '../payments/context.ts';
import { checkAmount } from '../payments/create-payment.ts';
import { resolveSplit, type SplitRequest } from '../sub-accounts/resolve-split.ts';
import { shareBase, splitShares } from '../sub-accounts/shares.ts';
import type { PaymentLink } from './payment-link.ts';

type Terms = Pick<PaymentLink, 'amountMinor' | 'minAmountMinor' | 'currency' | 'subAccountId' | 'subAccountGroupId'>;

/** The split of the link's payments, or null. Errors name fields with `prefix` before them. */
export function splitOf(
  link: Pick<PaymentLink, 'subAccountId' | 'subAccountGroupId'>,
  prefix: string,
): SplitRequest | null {
  const { subAccountId, subAccountGroupId: groupId } = link;
  if (subAccountId === null && groupId === null) return null;
  return {
    subAccountId,
    groupId,
    paths: { subAccount: `${prefix}sub_account`, group: `${prefix}sub_account_group` },
  };
}

/**
 * Refuses terms under which no payment could be created: an amount out of bounds or too small to split, a sub-account or
 * group that is unknown or paused. They are checked again for each payment.
 *
 * Throws AppError `amount_out_of_bounds`, `invalid_request`, `sub_account_paused` and `split_exceeds_amount`.
 */
export async function checkTerms(
  db: Queryable,
  context: PaymentContext,
  merchant: Merchant,
  terms: Terms,
  prefix: string,
): Promise<void> {
  const { minAmountMinor: min, currency } = terms;
  if (min !== null) {
    named(`${prefix}min_amount`, () => checkAmount(context, merchant, { amountMinor: min, currency }));
  }
  const { amountMinor } = terms;
  const path = `${prefix}amount`;
  const fixed =
    amountMinor === null ? null : named(path, () => checkAmount(context, merchant, { amountMinor, currency }));
  const split = splitOf(terms, prefix);
  if (split === null) return;
  const members = await resolveSplit(db, merchant.id, split);
  if (fixed !== null) splitShares({ baseMinor: shareBase(fixed), members, path });
}

/** Names the link's field in a refusal of the amount, where `checkAmount` names the payment's field. */
function named<Result>(path: string, check: () => Result): Result {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError(error.code, error.message, { fields: [{ path, message: error.message }], cause: error });
  }
}
