import type {
  Capabilities,
  CallbackReading,
  CollectionResponse,
  Connector,
  ContinueCollection,
  LookUpCollection,
  LookUpPayout,
  PayoutResponse,
  PayoutCapabilities,
  PayoutOperations,
  RefundOperations,
  RawCallback,
  StartCollection,
  StartPayout,
} from './contract.ts';

export interface NetworkCall {
  call: 'start' | 'look_up' | 'cancel' | 'continue' | 'pay_out' | 'look_up_payout';
  reference: string;
}

type PayoutCall = 'pay_out' | 'look_up_payout';
type ScriptedPayoutResponse = PayoutResponse | ((request: LookUpPayout | StartPayout) => Promise<PayoutResponse>);
type CollectionScript =
  | CollectionResponse
  | ((request: LookUpCollection | StartCollection) => Promise<CollectionResponse>);

/** A network that answers what a test has told it to, and remembers what it was asked. */
export class ScriptedNetwork implements Connector {
  readonly capabilities: Capabilities;
  readonly calls: NetworkCall[] = [];
  /** What it answers to each kind of call until it is told otherwise. */
  readonly responses: Record<Exclude<NetworkCall['call'], PayoutCall>, CollectionScript> = {
    start: awaitingPayer,
    look_up: awaitingPayer,
    cancel: { state: 'refused', failure: { code: 'cancelled', reason: 'The payment was cancelled.' } },
    continue: { state: 'processing' },
  };
  readonly payoutResponses: Record<PayoutCall, ScriptedPayoutResponse> = {
    pay_out: { state: 'unknown', detail: 'no answer' },
    look_up_payout: { state: 'unknown', detail: 'no answer' },
  };
  readonly payouts: PayoutOperations;
  refunds: RefundOperations | null = null;

  constructor(network: string, changes: Partial<Capabilities> = {}, payoutChanges: Partial<PayoutCapabilities> = {}) {
    this.capabilities = {
      network,
      displayName: network,
      testMode: true,
      railAccount: `rail-${network}`,
      shape: 'push',
      numberRequired: true,
      amountStepMinor: 1n,
      callTimeoutMs: 3_000,
      lookUpDelaysMs: [2_000, 3_000, 5_000],
      notFoundIsFinalAfterMs: 30_000,
      ...changes,
    };
    this.payouts = {
      capabilities: {
        amountStepMinor: 1n,
        lookUpDelaysMs: [1_000, 2_000, 4_000],
        resendAfterMs: 10_000,
        giveUpAfterMs: 24 * 60 * 60 * 1_000,
        breakerScope: 'network',
        ...payoutChanges,
      },
      start: (request) => this.#answerPayout('pay_out', request),
      lookUp: (request) => this.#answerPayout('look_up_payout', request),
    };
  }

  /** How often it was asked this. */
  count(call: NetworkCall['call']): number {
    return this.calls.filter((made) => made.call === call).length;
  }

  startCollection(request: StartCollection): Promise<CollectionResponse> {
    return this.#answer('start', request);
  }

  lookUpCollection(request: LookUpCollection): Promise<CollectionResponse> {
    return this.#answer('look_up', request);
  }

  cancelCollection(request: LookUpCollection): Promise<CollectionResponse> {
    return this.#answer('cancel', request);
  }

  continueCollection(request: ContinueCollection): Promise<CollectionResponse> {
    return this.#answer('continue', request);
  }

  readCallback(_callback: RawCallback): CallbackReading {
    return { accepted: false, reason: 'signature' };
  }

  async #answerPayout(call: PayoutCall, request: LookUpPayout | StartPayout): Promise<PayoutResponse> {
    this.calls.push({ call, reference: request.reference });
    const answer = this.payoutResponses[call];
    return typeof answer === 'function' ? answer(request) : answer;
  }

  async #answer(
    call: Exclude<NetworkCall['call'], PayoutCall>,
    request: LookUpCollection | StartCollection,
  ): Promise<CollectionResponse> {
    this.calls.push({ call, reference: request.reference });
    const answer = this.responses[call];
    return typeof answer === 'function' ? answer(request) : answer;
  }
}

const awaitingPayer: CollectionResponse = {
  state: 'awaiting_payer',
  nextAction: { type: 'approve_on_phone' },
  networkReference: 'N-scripted',
  handles: { session_id: 'N-scripted' },
};
