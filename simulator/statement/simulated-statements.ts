import { addMs } from '../../server/src/kit/clock.ts';
import type { SimulatorContext } from '../context.ts';
import type { Movement, MovementQuery } from './movement.ts';
import { listMovements, sumMovements } from './queries.ts';

/** The statements of the wallets at the simulated networks. */
export interface SimulatedStatements {
  /** In the order in which the money moved; nothing that is still to come. */
  list(query: MovementQuery): Promise<Movement[]>;
  balance(wallet: { account: string; network: string }): Promise<bigint>;
}

/** A wallet begins with the test money of a new merchant: 1,000,000 dalasi. */
const openingBalanceMinor = 100_000_000n;

export function createSimulatedStatements({ db, clock }: SimulatorContext): SimulatedStatements {
  return {
    list: async (query) => {
      const soon = addMs(clock.now(), 1);
      const found = await listMovements(db, { ...query, before: query.before < soon ? query.before : soon });
      return found.map((line) => ({ ...line, balanceMinor: line.balanceMinor + openingBalanceMinor }));
    },
    balance: async (wallet) => openingBalanceMinor + (await sumMovements(db, { ...wallet, until: clock.now() })),
  };
}
