/** A payment or a payout that has got an outcome, or another one. */
export interface Outcome {
  of: 'payment' | 'transfer' | 'sub_account_payout' | 'refund';
  network: string;
  testMode: boolean;
  outcome: string;
}

/** What wants to know of outcomes, such as the metrics. */
export interface OutcomeObserver {
  observeOutcome?: (outcome: Outcome) => void;
}
