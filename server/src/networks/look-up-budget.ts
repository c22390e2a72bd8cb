import type { LocalAllowances } from '../kit/local-allowance.ts';
import type { Connector, LookUp } from './contract.ts';

/**
 * The connector with its look-ups counted against its account's allowance. A look-up beyond it is `unknown` and is made later: an
 * account whose payments all hang calls its network no more often for that.
 */
export function withLookUpBudget(connector: Connector, allowances: LocalAllowances): Connector {
  const { collections, payouts, refunds, capabilities } = connector;
  const limited = <Question extends LookUp, Response>(lookUp: (request: Question) => Promise<Response>) => {
    return async (request: Question): Promise<Response | typeof exceeded> =>
      'left' in allowances.take(capabilities.railAccount) ? lookUp(request) : exceeded;
  };
  return {
    ...connector,
    collections: collections && { ...collections, lookUp: limited(collections.lookUp) },
    payouts: payouts && { ...payouts, lookUp: limited(payouts.lookUp) },
    refunds: refunds && { ...refunds, lookUp: limited(refunds.lookUp) },
  };
}

const exceeded = { state: 'unknown', detail: 'the account makes too many look-ups at once' } as const;
