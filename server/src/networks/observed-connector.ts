import type { CollectionOperations, Connector, LookUp, OutgoingOperations } from './contract.ts';

/** A call to a network, by what it was for and whether its outcome is known. */
export interface ObservedCall {
  call: 'collect' | 'pay_out' | 'refund' | 'look_up';
  outcome: 'answered' | 'unknown';
}

/** The connector with each of its calls reported. */
export function withObservedCalls(connector: Connector, observe: (call: ObservedCall) => void): Connector {
  const watched: Watch = (call, send) => async (request) => {
    const response = await send(request);
    observe({ call, outcome: response.state === 'unknown' ? 'unknown' : 'answered' });
    return response;
  };
  const outgoing = <Request, Limits, Question extends LookUp>(
    call: 'pay_out' | 'refund',
    operations: OutgoingOperations<Request, Limits, Question>,
  ): OutgoingOperations<Request, Limits, Question> => ({
    capabilities: operations.capabilities,
    start: watched(call, operations.start),
    lookUp: watched('look_up', operations.lookUp),
  });
  const { collections, payouts, refunds } = connector;
  return {
    ...connector,
    collections: collections && collectionsOf(collections, watched),
    payouts: payouts && {
      ...outgoing('pay_out', payouts),
      ...(payouts.startBatch && { startBatch: watched('pay_out', payouts.startBatch) }),
    },
    refunds: refunds && outgoing('refund', refunds),
  };
}

type Watch = <Request, Response extends { state: string }>(
  call: ObservedCall['call'],
  send: (request: Request) => Promise<Response>,
) => (request: Request) => Promise<Response>;

function collectionsOf(collections: CollectionOperations, watched: Watch): CollectionOperations {
  return {
    capabilities: collections.capabilities,
    start: watched('collect', collections.start),
    continue: watched('collect', collections.continue),
    cancel: watched('collect', collections.cancel),
    lookUp: watched('look_up', collections.lookUp),
  };
}
