import type { LocalAllowances } from '../kit/local-allowance.ts';
import type { Connector } from './contract.ts';
import { withWrappedCalls } from './wrapped-connector.ts';

/**
 * The connector with its look-ups counted against its account's allowance. A look-up beyond it is `unknown` and is made later: an
 * account whose payments all hang calls its network no more often for that.
 */
export function withLookUpBudget(connector: Connector, allowances: LocalAllowances): Connector {
  const { railAccount } = connector.capabilities;
  return withWrappedCalls(connector, (purpose, call) => {
    if (purpose !== 'look_up') return call;
    return async (request) => ('left' in allowances.take(railAccount) ? call(request) : exceeded);
  });
}

const exceeded = { state: 'unknown', detail: 'the account makes too many look-ups at once' } as const;
