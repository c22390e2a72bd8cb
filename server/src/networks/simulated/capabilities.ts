import type {
  Capabilities,
  CollectionCapabilities,
  CollectionShape,
  PayoutCapabilities,
  RefundCapabilities,
} from '../contract.ts';
import { knownNetworks } from '../known-networks.ts';

const lookUpDelaysMs = [2_000, 3_000, 5_000, 10_000, 20_000, 30_000] as const;
// Six times the longest time for which the simulated networks hide a session.
const notFoundIsFinalAfterMs = 30_000;

/** How each network collects. The simulated ones take bututs, unlike the real ones. */
export function collectionCapabilities(network: string): CollectionCapabilities {
  return {
    shape: shapes[network] ?? 'push',
    numberRequired: true,
    canCancel: true,
    amountStepMinor: 1n,
    lookUpDelaysMs,
    notFoundIsFinalAfterMs,
    recheckAfterMs: [],
  };
}

const shapes: Readonly<Record<string, CollectionShape>> = {
  afrimoney: 'push_then_confirm',
  qmoney: 'code',
  aps: 'push',
};

/** The same for all of them: an outage or an empty float affects one merchant and one number only. */
export const payoutCapabilities: PayoutCapabilities = {
  amountStepMinor: 1n,
  lookUpDelaysMs: [1_000, 2_000, 5_000, 10_000, 30_000, 60_000],
  resendAfterMs: 30_000,
  giveUpAfterMs: 24 * 60 * 60 * 1_000,
  recheckAfterMs: [],
  breakerScope: 'merchant_and_number',
};

const hourMs = 60 * 60 * 1_000;

/** Refunds, as the real networks are known to offer them: APS in parts within two days. */
export function refundCapabilities(network: string): RefundCapabilities | null {
  const { lookUpDelaysMs: delaysMs, resendAfterMs, giveUpAfterMs, recheckAfterMs } = payoutCapabilities;
  const shared = { lookUpDelaysMs: delaysMs, resendAfterMs, giveUpAfterMs, recheckAfterMs };
  if (network === 'aps') return { ...shared, partial: true, withinMs: 48 * hourMs };
  return null;
}

/** In the order in which payers see them. */
export function simulatedCapabilities(callTimeoutMs: number): Capabilities[] {
  return knownNetworks
    .filter(({ id }) => id !== 'wave')
    .map(({ id: network, displayName, operator }) => ({
      ...{ network, displayName, operator, callTimeoutMs },
      testMode: true,
      railAccount: `${network}-test`,
      merchantId: null,
    }));
}
