import { formatAmount, percentToJson } from '../../kit/money.ts';
import type { FeeRule } from '../../merchants/fees.ts';
import type { ReserveRule } from '../../merchants/rules.ts';

/** `1.5% + D5.00, at least D10.00`. */
export function feeInWords(rule: FeeRule | null): string {
  if (rule === null) return 'No fee';
  const { percentHundredths, fixedMinor, minimumMinor, maximumMinor } = rule;
  const parts = [
    ...(percentHundredths > 0n ? [`${percentToJson(percentHundredths)}%`] : []),
    ...(fixedMinor > 0n ? [formatAmount(fixedMinor)] : []),
  ];
  const bounds = [
    ...(minimumMinor > 0n ? [`at least ${formatAmount(minimumMinor)}`] : []),
    ...(maximumMinor === null ? [] : [`at most ${formatAmount(maximumMinor)}`]),
  ];
  return [parts.length === 0 ? 'No fee' : parts.join(' + '), ...bounds].join(', ');
}

export function limitInWords(minor: bigint | null): string {
  return minor === null ? 'No limit' : formatAmount(minor);
}

export function reserveInWords(rule: ReserveRule | null): string {
  if (rule === null || rule.percentHundredths === 0n) return 'None';
  const whose = rule.newForDays === null ? '' : `, in a business’s first ${rule.newForDays} days`;
  return `${percentToJson(rule.percentHundredths)}% for ${rule.hours} hours${whose}`;
}
