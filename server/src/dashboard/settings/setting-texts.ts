import { hourMs } from '../../kit/clock.ts';
import { formatAmount, percentToJson } from '../../kit/money.ts';
import type { FeeRule } from '../../merchants/fees.ts';
import type { Merchant, PayoutSchedule } from '../../merchants/merchant.ts';
import type { ReserveRule } from '../../merchants/rules.ts';

export function feePayerText({ collectionFee }: Pick<Merchant, 'collectionFee'>): string {
  return collectionFee.payer === 'business' ? 'You pay the fees of payments.' : 'Payers pay the fees, on top.';
}

const schedules: Readonly<Record<PayoutSchedule, string>> = {
  manual: 'Only by hand',
  daily: 'Every day',
  weekly: 'Every week, on Monday',
};

export function scheduleText(schedule: PayoutSchedule): string {
  return schedules[schedule];
}

export function refundLimitText(limitMinor: bigint | null): string {
  return limitMinor === null
    ? 'No refund asks for the second factor.'
    : `Refunds above ${formatAmount(limitMinor)} ask for the second factor.`;
}

export function transferApprovalText(aboveMinor: bigint | null): string {
  return aboveMinor === null
    ? 'One person alone can pay out.'
    : `What one person asks to pay out above ${formatAmount(aboveMinor)}, a second one has to approve.`;
}

export function receiptLimitText(limitMinor: bigint | null): string {
  return limitMinor === null
    ? 'A message of the network is enough for every amount.'
    : `Above ${formatAmount(limitMinor)} a line of the network’s statement must confirm a receipt before it pays.`;
}

/** `1.5% + D2.00, at least D5.00, at most D100.00`. */
export function feeText({ percentHundredths, fixedMinor, minimumMinor, maximumMinor }: FeeRule): string {
  const sums = [
    percentHundredths > 0n ? `${percentToJson(percentHundredths)}%` : '',
    fixedMinor > 0n ? formatAmount(fixedMinor) : '',
  ].filter(Boolean);
  const bounds = [
    minimumMinor > 0n ? `at least ${formatAmount(minimumMinor)}` : '',
    maximumMinor === null ? '' : `at most ${formatAmount(maximumMinor)}`,
  ].filter(Boolean);
  return [sums.join(' + ') || 'None', ...bounds].join(', ');
}

const dayHours = 24n;

export function reserveText(reserve: ReserveRule | null): string {
  if (reserve === null || reserve.percentHundredths === 0n || reserve.hours === 0n) return 'Nothing is held';
  const { percentHundredths, hours, newForDays } = reserve;
  const from = newForDays === null ? '' : `, in the first ${newForDays} days`;
  return `${percentToJson(percentHundredths)}% of each payment for ${timeText(hours)}${from}`;
}

/** When collected money can be spent. */
export function settlementText(delayMs: number): string {
  if (delayMs === 0) return 'What you collect can be paid out at once.';
  return `What you collect can be paid out after ${timeText(BigInt(Math.ceil(delayMs / hourMs)))}.`;
}

function timeText(hours: bigint): string {
  const [count, unit] = hours % dayHours === 0n ? [hours / dayHours, 'day'] : [hours, 'hour'];
  return count === 1n ? `1 ${unit}` : `${count} ${unit}s`;
}
