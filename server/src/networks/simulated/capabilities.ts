import type { Capabilities, PayoutCapabilities, RefundCapabilities } from '../contract.ts';

const lookUpDelaysMs = [2_000, 3_000, 5_000, 10_000, 20_000, 30_000] as const;
// Six times the longest time for which the simulated networks hide a session.
const notFoundIsFinalAfterMs = 30_000;

/** What the simulated networks have in common; they take bututs, unlike the real ones. */
const common = {
  testMode: true,
  canCancel: true,
  amountStepMinor: 1n,
  lookUpDelaysMs,
  notFoundIsFinalAfterMs,
} as const;

/** The same for all of them: an outage or an empty float affects one merchant and one number only. */
export const payoutCapabilities: PayoutCapabilities = {
  amountStepMinor: 1n,
  lookUpDelaysMs: [1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
  resendAfterMs: 30_000,
  giveUpAfterMs: 24 * 60 * 60 * 1_000,
  breakerScope: 'merchant_and_number',
};

const hourMs = 60 * 60 * 1_000;

/** Refunds, as the real networks are known to offer them: Wave the whole amount, APS in parts within two days. */
export function refundCapabilities(network: string): RefundCapabilities | null {
  const { lookUpDelaysMs: delaysMs, resendAfterMs, giveUpAfterMs } = payoutCapabilities;
  const shared = { lookUpDelaysMs: delaysMs, resendAfterMs, giveUpAfterMs };
  if (network === 'wave') return { ...shared, partial: false, withinMs: 365 * 24 * hourMs };
  if (network === 'aps') return { ...shared, partial: true, withinMs: 48 * hourMs };
  return null;
}

/** In the order in which payers see them. */
export function simulatedCapabilities(callTimeoutMs: number): Capabilities[] {
  const shared = { ...common, callTimeoutMs };
  return [
    {
      ...shared,
      network: 'wave',
      displayName: 'Wave',
      operator: null,
      railAccount: 'sim-wave',
      shape: 'redirect',
      numberRequired: false,
    },
    {
      ...shared,
      network: 'afrimoney',
      displayName: 'Afrimoney',
      operator: 'africell',
      railAccount: 'sim-afrimoney',
      shape: 'push_then_confirm',
      numberRequired: true,
    },
    {
      ...shared,
      network: 'qmoney',
      displayName: 'QMoney',
      operator: 'qcell',
      railAccount: 'sim-qmoney',
      shape: 'code',
      numberRequired: true,
    },
    {
      ...shared,
      network: 'aps',
      displayName: 'APS',
      operator: null,
      railAccount: 'sim-aps',
      shape: 'push',
      numberRequired: true,
    },
  ];
}
