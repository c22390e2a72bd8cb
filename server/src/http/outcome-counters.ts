import { Counter, type Registry } from 'prom-client';
import type { Outcome } from '../events/outcome.ts';
import { knownNetworks } from '../networks/known-networks.ts';

const paymentOutcomes = ['completed', 'failed', 'cancelled', 'refunded', 'reversed'] as const;
const transferOutcomes = ['completed', 'failed', 'cancelled', 'reversed'] as const;
const transferKinds = ['transfer', 'sub_account_payout', 'refund'] as const;
const environments = ['test', 'live'] as const;

/** Counts outcomes of payments and payouts; each series is there from the start, with 0, so that its first increase is seen. */
export function countOutcomes(registry: Registry): (outcome: Outcome) => void {
  const payments = new Counter({
    name: 'dalasi_payments_total',
    help: 'Attempts to pay that got an outcome, or another one, by network.',
    labelNames: ['network', 'environment', 'outcome'],
    registers: [registry],
  });
  const transfers = new Counter({
    name: 'dalasi_transfers_total',
    help: 'Transfers, payouts of sub-accounts and refunds that got an outcome, or another one, by network.',
    labelNames: ['kind', 'network', 'environment', 'outcome'],
    registers: [registry],
  });
  for (const { id: network } of knownNetworks) {
    for (const environment of environments) {
      for (const outcome of paymentOutcomes) payments.inc({ network, environment, outcome }, 0);
      for (const kind of transferKinds) {
        for (const outcome of transferOutcomes) transfers.inc({ kind, network, environment, outcome }, 0);
      }
    }
  }
  return ({ of, network, testMode, outcome }) => {
    const labels = { network, environment: testMode ? 'test' : 'live', outcome };
    if (of === 'payment') payments.inc(labels);
    else transfers.inc({ kind: of, ...labels });
  };
}
