import { formatAmount, percentToJson } from '../../kit/money.ts';
import type { ReserveRule } from '../../merchants/rules.ts';

export function limitInWords(minor: bigint | null): string {
  return minor === null ? 'No limit' : formatAmount(minor);
}

export function reserveInWords(rule: ReserveRule | null): string {
  if (rule === null || rule.percentHundredths === 0n) return 'None';
  const whose = rule.newForDays === null ? '' : `, in a business’s first ${rule.newForDays} days`;
  return `${percentToJson(rule.percentHundredths)}% for ${rule.hours} hours${whose}`;
}
