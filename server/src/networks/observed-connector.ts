import type { Connector } from './contract.ts';
import { withWrappedCalls, type CallPurpose } from './wrapped-connector.ts';

/** A call to a network, by what it was for and whether its outcome is known. */
export interface ObservedCall {
  call: CallPurpose;
  outcome: 'answered' | 'unknown';
}

/** The connector with each of its calls reported. */
export function withObservedCalls(connector: Connector, observe: (call: ObservedCall) => void): Connector {
  return withWrappedCalls(connector, (call, send) => async (request) => {
    const response = await send(request);
    observe({ call, outcome: response.state === 'unknown' ? 'unknown' : 'answered' });
    return response;
  });
}
