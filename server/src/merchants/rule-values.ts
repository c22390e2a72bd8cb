import { formatAmount, percentToJson } from '../kit/money.ts';
import type { FeeRule } from './fees.ts';
import type { MerchantRateLimits } from './merchant.ts';
import { rateLimitKinds } from './rate-limit-kinds.ts';
import type { ReserveRule, StoredLimit } from './rules.ts';

/** Rules as people type them, under the names of the console's fields: for its forms, and for the audit log. */
export type RuleValues = Readonly<Record<string, string>>;

/** Of a rule that is removed: the console's box that is ticked. */
export const cleared: RuleValues = { default: 'true' };

function plainAmount(minor: bigint): string {
  return formatAmount(minor, { style: 'plain' });
}

/** Of a part of a fee, which is nothing where it is 0. */
function partAmount(minor: bigint): string {
  return minor === 0n ? '' : plainAmount(minor);
}

export function feeValues(rule: FeeRule | undefined): RuleValues {
  if (!rule) return {};
  const { percentHundredths, fixedMinor, minimumMinor, maximumMinor } = rule;
  return {
    percent: percentHundredths === 0n ? '' : String(percentToJson(percentHundredths)),
    fixed: partAmount(fixedMinor),
    minimum: partAmount(minimumMinor),
    maximum: maximumMinor === null ? '' : plainAmount(maximumMinor),
  };
}

export function limitValues(limits: readonly StoredLimit[]): RuleValues {
  return Object.fromEntries(
    limits.map(({ kind, amountMinor }) => [kind, amountMinor === null ? 'none' : plainAmount(amountMinor)]),
  );
}

export function reserveValues(rule: ReserveRule | null): RuleValues {
  if (!rule) return {};
  return {
    percent: String(percentToJson(rule.percentHundredths)),
    hours: rule.hours === 0n ? '' : String(rule.hours),
    ...(rule.newForDays !== null && { new_for_days: String(rule.newForDays) }),
  };
}

/** A rate as a field has it. */
export function rateText(rate: bigint | null): string {
  if (rate === null) return '';
  return rate === 0n ? 'none' : String(rate);
}

/** Of those limits that are set or removed. */
export function rateValues(limits: Partial<MerchantRateLimits>): RuleValues {
  const changed = rateLimitKinds.filter(({ field }) => limits[field] !== undefined);
  return Object.fromEntries(changed.map(({ name, field }) => [name, rateText(limits[field] ?? null)]));
}
