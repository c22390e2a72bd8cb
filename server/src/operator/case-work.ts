import type { ResolveContext } from '../cases/resolve-case.ts';
import { createCaseContext } from '../app/case-context.ts';
import {
  createAddress,
  createMoneyContext,
  createNetworks,
  createPlanner,
  createRailAccountContext,
  type MoneyContext,
  type MoneyOptions,
} from '../app/contexts.ts';
import { startNotifier } from '../kit/notifier.ts';
import type { RailAccountContext } from '../rail-accounts/manage-accounts.ts';

export interface CaseWork {
  context: ResolveContext;
  /** The context of payments and transfers, as the service builds it. */
  money: MoneyContext;
  railAccounts: RailAccountContext;
  close(): Promise<void>;
}

/**
 * What resolving a case needs beyond the database: the networks, and the notifier, which tells payers' pages and workers of
 * a running service about the change. Imported lazily: most commands do without, and start in half the time.
 */
export async function openCaseWork(options: Omit<MoneyOptions, 'notifier'>): Promise<CaseWork> {
  const { db, clock, log } = options;
  const onError = (error: unknown): void =>
    log.warn('a notification to the service was lost', { error: String(error) });
  const notifier = await startNotifier({ db, clock, onError });
  const parts: MoneyOptions = { ...options, notifier };
  const address = createAddress(options.config);
  const networks = createNetworks(parts, address);
  await networks.accounts.load();
  const money = createMoneyContext({ ...parts, planner: createPlanner(parts) }, address, networks.registry);
  return {
    context: createCaseContext(money),
    money,
    railAccounts: createRailAccountContext(parts),
    close: async () => {
      await networks.close();
      await notifier.close();
    },
  };
}
