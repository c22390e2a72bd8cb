import type { ResolveContext } from '../cases/resolve-case.ts';
import { createDebtResolvers } from '../debts/resolve-debt.ts';
import { listOperators } from '../operators/manage-operators.ts';
import { createChargeResolvers } from '../payments/resolve-case.ts';
import { createDifferenceResolvers } from '../reconciliation/resolve-difference.ts';
import { createTransferResolvers } from '../transfers/resolve-case.ts';
import type { MoneyContext } from './contexts.ts';

/** What resolving a case needs, for the commands and the console alike. */
export function createCaseContext(money: MoneyContext): ResolveContext {
  const { db, clock, newId } = money;
  return {
    ...{ db, clock, newId },
    resolvers: [
      ...createChargeResolvers(money),
      ...createTransferResolvers(money),
      ...createDebtResolvers(money),
      ...createDifferenceResolvers(money),
    ],
    isOperator: async (tx, operatorId) =>
      (await listOperators(tx)).some(({ id, revokedAt }) => id === operatorId && revokedAt === null),
  };
}
