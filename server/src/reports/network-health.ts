import { networkQueue } from '../events/outbox.ts';
import { addMs } from '../kit/clock.ts';
import type { Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import type { Capabilities } from '../networks/contract.ts';
import { listOpenBreakers } from '../networks/payout-breakers.ts';
import type { BreakerContext, OpenBreakerOf } from '../networks/payout-breakers.ts';
import type { NetworkRegistry } from '../networks/registry.ts';
import { countAttemptsByNetwork, listWaitingPayouts, sumAccounts } from './queries/network-health.ts';
import type { WaitingPayouts } from './queries/network-health.ts';

export type { WaitingPayouts } from './queries/network-health.ts';

/** How a network does now, for all merchants of an environment. Amounts are bututs. */
export interface NetworkHealth {
  capabilities: Capabilities;
  paysOut: boolean;
  attempts: AttemptRate;
  /** What the ledger says that the account at the network holds for all. */
  floatMinor: bigint;
  /** The breaker of all payouts, and those of single merchants. */
  breakers: readonly OpenBreakerOf[];
  waiting: readonly WaitingPayouts[];
}

/** Attempts to collect that ended: of the last hour, or of the last day where the hour had too few to say anything. */
export interface AttemptRate {
  paidCount: number;
  endedCount: number;
  hours: 1 | 24;
}

interface HealthContext extends Pick<BreakerContext, 'breakers'> {
  db: Queryable;
  clock: Clock;
  networks: NetworkRegistry;
}

const hourMs = 3_600_000;
// As on the dashboard: a rate of fewer says little.
const attemptsMin = 20;

/** Every network of the environment, in the order in which payers see them. */
export async function readNetworkHealth(context: HealthContext, testMode: boolean): Promise<NetworkHealth[]> {
  const { db, clock, networks } = context;
  const connectors = networks.list(testMode);
  if (connectors.length === 0) return [];
  const rates = await readRates({ db, clock }, testMode);
  const railAccounts = [...new Set(connectors.map(({ capabilities }) => capabilities.railAccount))];
  const accounts = railAccounts.map((rail) => `float:${rail}` as const);
  const floats = new Map(
    (await sumAccounts(db, { testMode, accounts })).map((each) => [each.account, each.amountMinor]),
  );
  const queues = connectors.map(({ capabilities }) => networkQueue(capabilities, 'payouts'));
  const waiting = Map.groupBy(await listWaitingPayouts(db, queues), ({ network }) => network);
  const breakers = await listOpenBreakers(context);
  return connectors.map(({ capabilities, payouts }) => ({
    capabilities,
    paysOut: payouts !== null,
    attempts: rates.get(capabilities.network) ?? noAttempts,
    floatMinor: floats.get(`float:${capabilities.railAccount}`) ?? 0n,
    breakers: breakers.filter((breaker) => breaker.network === capabilities.network && breaker.testMode === testMode),
    waiting: waiting.get(capabilities.network) ?? [],
  }));
}

const noAttempts: AttemptRate = { paidCount: 0, endedCount: 0, hours: 24 };

async function readRates(
  { db, clock }: Pick<HealthContext, 'db' | 'clock'>,
  testMode: boolean,
): Promise<ReadonlyMap<string, AttemptRate>> {
  const ofHours = async (hours: AttemptRate['hours']): Promise<[string, AttemptRate][]> => {
    const firstId = firstIdAt(addMs(clock.now(), -hours * hourMs));
    const rows = await countAttemptsByNetwork(db, { testMode, firstId });
    return rows.map(({ network, paidCount, failedCount }) => [
      network,
      { paidCount: Number(paidCount), endedCount: Number(paidCount + failedCount), hours },
    ]);
  };
  const ofHour = new Map(await ofHours(1));
  const isBusy = ofHour.size > 0 && [...ofHour.values()].every(({ endedCount }) => endedCount >= attemptsMin);
  if (isBusy) return ofHour;
  const rates = new Map(await ofHours(24));
  for (const [network, rate] of ofHour) if (rate.endedCount >= attemptsMin) rates.set(network, rate);
  return rates;
}
