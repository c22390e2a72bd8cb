import type { Connector, LookUp, NetworkResponse, OutgoingOperations } from './contract.ts';

/** What a call to a network is for. */
export type CallPurpose = 'collect' | 'pay_out' | 'refund' | 'look_up';

type UnknownResponse = Extract<NetworkResponse, { state: 'unknown' }>;

type WrapCall = <Request, Response extends NetworkResponse>(
  purpose: CallPurpose,
  call: (request: Request) => Promise<Response>,
) => (request: Request) => Promise<Response | UnknownResponse>;

/** The connector with each of its calls wrapped. */
export function withWrappedCalls(connector: Connector, wrap: WrapCall): Connector {
  const outgoing = <Request, Limits, Question extends LookUp>(
    purpose: 'pay_out' | 'refund',
    operations: OutgoingOperations<Request, Limits, Question>,
  ): OutgoingOperations<Request, Limits, Question> => ({
    capabilities: operations.capabilities,
    start: wrap(purpose, operations.start),
    lookUp: wrap('look_up', operations.lookUp),
  });
  const { capabilities, collections, payouts, refunds, statements, messages } = connector;
  return {
    capabilities,
    collections: collections && {
      capabilities: collections.capabilities,
      start: wrap('collect', collections.start),
      continue: wrap('collect', collections.continue),
      cancel: wrap('collect', collections.cancel),
      lookUp: wrap('look_up', collections.lookUp),
    },
    payouts: payouts && {
      ...outgoing('pay_out', payouts),
      ...(payouts.startBatch && { startBatch: wrap('pay_out', payouts.startBatch) }),
    },
    refunds: refunds && outgoing('refund', refunds),
    ...(statements && { statements }),
    ...(messages && { messages }),
    readCallback: (callback) => connector.readCallback(callback),
  };
}
