import type {
  Capabilities,
  CallbackReading,
  CollectionCapabilities,
  CollectionOperations,
  CollectionResponse,
  Connector,
  LookUp,
  PayoutBatch,
  PayoutBatchResponse,
  PayoutResponse,
  PayoutCapabilities,
  PayoutOperations,
  RefundOperations,
  RawCallback,
  StartCollection,
  StartPayout,
} from './contract.ts';

export interface NetworkCall {
  call: 'start' | 'look_up' | 'cancel' | 'continue' | 'pay_out' | 'look_up_payout' | 'pay_out_batch';
  reference: string;
}

type PayoutCall = 'pay_out' | 'look_up_payout';
type CollectionCall = Exclude<NetworkCall['call'], PayoutCall | 'pay_out_batch'>;
type ScriptedPayoutResponse = PayoutResponse | ((request: LookUp | StartPayout) => Promise<PayoutResponse>);
type CollectionScript = CollectionResponse | ((request: LookUp | StartCollection) => Promise<CollectionResponse>);

/** A network with scripted responses that records its calls. */
export class ScriptedNetwork implements Connector {
  readonly capabilities: Capabilities;
  readonly calls: NetworkCall[] = [];
  /** The response to each kind of call; a test may replace it. */
  readonly responses: Record<CollectionCall, CollectionScript> = {
    start: awaitingPayer,
    look_up: awaitingPayer,
    cancel: { state: 'refused', failure: { code: 'cancelled', reason: 'The payment was cancelled.' } },
    continue: { state: 'processing' },
  };
  readonly payoutResponses: Record<PayoutCall, ScriptedPayoutResponse> = {
    pay_out: { state: 'unknown', detail: 'no response' },
    look_up_payout: { state: 'unknown', detail: 'no response' },
  };
  /** The response to a batch, where `batchMax` says that the network takes them. */
  batchResponse: (batch: PayoutBatch) => Promise<PayoutBatchResponse> = () =>
    Promise.resolve({ state: 'unknown', detail: 'no response' });
  readonly collections: CollectionOperations;
  readonly payouts: PayoutOperations;
  refunds: RefundOperations | null = null;

  constructor(
    network: string,
    changes: Partial<Capabilities & CollectionCapabilities> = {},
    payoutChanges: Partial<PayoutCapabilities> = {},
  ) {
    const { displayName = network, testMode = true, operator = null, merchantId = null } = changes;
    const { railAccount = `rail-${network}`, callTimeoutMs = 3_000, ...collecting } = changes;
    this.capabilities = { network, displayName, testMode, railAccount, operator, merchantId, callTimeoutMs };
    this.collections = {
      capabilities: {
        shape: 'push',
        numberRequired: true,
        canCancel: true,
        amountStepMinor: 1n,
        lookUpDelaysMs: [2_000, 3_000, 5_000],
        notFoundIsFinalAfterMs: 30_000,
        recheckAfterMs: [],
        ...collecting,
      },
      start: (request) => this.#respond('start', request),
      continue: (request) => this.#respond('continue', request),
      cancel: (request) => this.#respond('cancel', request),
      lookUp: (request) => this.#respond('look_up', request),
    };
    this.payouts = {
      capabilities: {
        amountStepMinor: 1n,
        lookUpDelaysMs: [1_000, 2_000, 4_000],
        resendAfterMs: 10_000,
        giveUpAfterMs: 24 * 60 * 60 * 1_000,
        recheckAfterMs: [],
        breakerScope: 'network',
        ...payoutChanges,
      },
      start: (request) => this.#respondToPayout('pay_out', request),
      lookUp: (request) => this.#respondToPayout('look_up_payout', request),
      ...(payoutChanges.batchMax !== undefined && {
        startBatch: (batch) => {
          this.calls.push({ call: 'pay_out_batch', reference: batch.reference });
          return this.batchResponse(batch);
        },
      }),
    };
  }

  /** How many calls of this kind it received. */
  count(call: NetworkCall['call']): number {
    return this.calls.filter((received) => received.call === call).length;
  }

  readCallback(_callback: RawCallback): CallbackReading {
    return { accepted: false, reason: 'signature' };
  }

  async #respondToPayout(call: PayoutCall, request: LookUp | StartPayout): Promise<PayoutResponse> {
    this.calls.push({ call, reference: request.reference });
    const response = this.payoutResponses[call];
    return typeof response === 'function' ? response(request) : response;
  }

  async #respond(call: CollectionCall, request: LookUp | StartCollection): Promise<CollectionResponse> {
    this.calls.push({ call, reference: request.reference });
    const response = this.responses[call];
    return typeof response === 'function' ? response(request) : response;
  }
}

const awaitingPayer: CollectionResponse = {
  state: 'awaiting_payer',
  nextAction: { type: 'approve_on_phone' },
  networkReference: 'N-scripted',
  handles: { session_id: 'N-scripted' },
};
