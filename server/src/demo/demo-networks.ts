import type {
  CollectionOperations,
  Connector,
  NextAction,
  PayoutOperations,
  PayoutResponse,
  RefundOperations,
} from '../networks/contract.ts';
import { createNetworkRegistry, type NetworkRegistry } from '../networks/registry.ts';

/** Numbers with this ending are refused money, as at the simulated networks (docs/testing-with-the-simulator.md). */
export const refusedEnding = '0002';

const nextActions: Record<string, (reference: string) => NextAction> = {
  wave: (reference) => ({ type: 'open_url', url: `https://wave.example/launch/${reference}` }),
  afrimoney: () => ({ type: 'approve_then_confirm' }),
  qmoney: () => ({ type: 'enter_code', length: 6 }),
};

/**
 * The simulated networks without HTTP and without waiting: they accept everything at once. What a payer does is part of the
 * story, which reports it as a callback would.
 */
export function createDemoNetworks(real: NetworkRegistry): NetworkRegistry {
  return createNetworkRegistry(real.list(true).map(demoConnector));
}

function demoConnector(connector: Connector): Connector {
  const { capabilities } = connector;
  return {
    capabilities,
    collections: connector.collections && demoCollections(capabilities.network, connector.collections),
    payouts: connector.payouts && demoPayouts(connector.payouts),
    refunds: connector.refunds && demoRefunds(connector.refunds),
    readCallback: () => ({ accepted: false, reason: 'malformed' }),
  };
}

function demoCollections(network: string, { capabilities }: CollectionOperations): CollectionOperations {
  const nextAction = nextActions[network] ?? (() => ({ type: 'approve_on_phone' }) as const);
  return {
    capabilities,
    start: ({ reference }) =>
      Promise.resolve({
        state: 'awaiting_payer',
        nextAction: nextAction(reference),
        networkReference: `session-${reference}`,
        handles: { session_id: `session-${reference}` },
      }),
    continue: () => Promise.resolve({ state: 'processing' }),
    cancel: () =>
      Promise.resolve({ state: 'refused', failure: { code: 'cancelled', reason: 'The payment was cancelled.' } }),
    lookUp: () => Promise.resolve({ state: 'processing' }),
  };
}

function demoPayouts({ capabilities }: PayoutOperations): PayoutOperations {
  return {
    capabilities,
    start: (request) =>
      Promise.resolve(request.beneficiaryNumber.endsWith(refusedEnding) ? noSuchWallet : paid(request)),
    lookUp: () => Promise.resolve({ state: 'unknown', detail: 'demo data looks nothing up' }),
  };
}

function demoRefunds({ capabilities }: RefundOperations): RefundOperations {
  return {
    capabilities,
    start: (request) => Promise.resolve(paid(request)),
    lookUp: () => Promise.resolve({ state: 'unknown', detail: 'demo data looks nothing up' }),
  };
}

const noSuchWallet: PayoutResponse = {
  state: 'refused',
  failure: { code: 'account_not_found', reason: 'The number has no account at this network.' },
};

function paid(request: { reference: string; amountMinor: bigint; currency: string }): PayoutResponse {
  const { reference, amountMinor, currency } = request;
  const ids = { transactionId: `paid-${reference}`, networkReference: `payout-${reference}` };
  return { state: 'succeeded', providerTransaction: { ...ids, amountMinor, currency, networkFeeMinor: 0n } };
}
