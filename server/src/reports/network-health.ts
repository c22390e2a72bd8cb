import { networkQueue } from '../events/outbox.ts';
import { addMs, type Clock } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import type { Capabilities, Connector } from '../networks/contract.ts';
import { listOpenBreakers, type BreakerContext, type OpenBreakerOf } from '../networks/payout-breakers.ts';
import { ofNetwork, type NetworkRegistry } from '../networks/registry.ts';
import {
  countAttemptsByNetwork,
  listWaitingPayouts,
  sumAccounts,
  type NetworkAttempts,
  type WaitingPayouts,
} from './queries/network-health.ts';

export type { WaitingPayouts } from './queries/network-health.ts';

/** How a network does now through one rail account, for all merchants of an environment. Amounts are bututs. */
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

/** Every network of the environment by rail account, in the order in which payers see them. */
export async function readNetworkHealth(context: HealthContext, testMode: boolean): Promise<NetworkHealth[]> {
  const { db, clock, networks } = context;
  const connectors = networks.list(testMode);
  if (connectors.length === 0) return [];
  const accountsOf = connectors.map((connector) => ofAccount(connectors, connector.capabilities));
  const rates = await readRates({ db, clock }, { testMode, accounts: accountsOf });
  const railAccounts = [...new Set(connectors.map(({ capabilities }) => capabilities.railAccount))];
  const accounts = railAccounts.map((rail) => `float:${rail}` as const);
  const floats = new Map(
    (await sumAccounts(db, { testMode, accounts })).map((each) => [each.account, each.amountMinor]),
  );
  const queues = connectors.map(({ capabilities }) => networkQueue(capabilities, 'payouts'));
  const waiting = await listWaitingPayouts(db, queues);
  const breakers = await listOpenBreakers(context);
  return connectors.map((connector) => {
    const { capabilities, payouts } = connector;
    const isOf = ofAccount(connectors, capabilities);
    return {
      capabilities,
      paysOut: payouts !== null,
      attempts: rates(isOf),
      floatMinor: floats.get(`float:${capabilities.railAccount}`) ?? 0n,
      breakers: breakers.filter((breaker) => breaker.testMode === testMode && isOf(breaker)),
      waiting: waiting.filter(isOf),
    };
  });
}

type OfAccount = (each: { network: string; railAccount: string | null }) => boolean;

/** What is of an account; what names none, as that of an earlier release, is of the network's first. */
function ofAccount(connectors: readonly Connector[], { network, railAccount }: Capabilities): OfAccount {
  const isFirst = ofNetwork(connectors, network)?.capabilities.railAccount === railAccount;
  return (each) =>
    each.network === network && (each.railAccount === railAccount || (isFirst && each.railAccount === null));
}

async function readRates(
  { db, clock }: Pick<HealthContext, 'db' | 'clock'>,
  { testMode, accounts }: { testMode: boolean; accounts: readonly OfAccount[] },
): Promise<(isOf: OfAccount) => AttemptRate> {
  const ofHours = async (hours: AttemptRate['hours']) => {
    const rows = await countAttemptsByNetwork(db, {
      testMode,
      firstId: firstIdAt(addMs(clock.now(), -hours * hourMs)),
    });
    return (isOf: OfAccount): AttemptRate => {
      const own = rows.filter(isOf);
      const sum = (count: (row: NetworkAttempts) => bigint) =>
        Number(own.reduce((total, row) => total + count(row), 0n));
      return {
        paidCount: sum(({ paidCount }) => paidCount),
        endedCount: sum(({ paidCount, failedCount }) => paidCount + failedCount),
        hours,
      };
    };
  };
  const ofHour = await ofHours(1);
  const used = accounts.map(ofHour).filter(({ endedCount }) => endedCount > 0);
  const isBusy = used.length > 0 && used.every(({ endedCount }) => endedCount >= attemptsMin);
  const ofDay = isBusy ? ofHour : await ofHours(24);
  return (isOf) => {
    const lastHour = ofHour(isOf);
    return lastHour.endedCount >= attemptsMin ? lastHour : ofDay(isOf);
  };
}
