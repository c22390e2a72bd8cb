/** What became of a transaction id that the payer typed after sending the money. */
export type TypedIdResult =
  /** The network's message has not arrived, or a statement line must confirm it first, or a person looks at it. */
  | { state: 'accepted' }
  | { state: 'paid' }
  /** The text cannot be an id. It uses no try. */
  | { state: 'wrong_form' }
  | { state: 'tries_left'; triesLeft: number }
  /** Too many wrong ids. */
  | { state: 'closed' };

/** The id of a charge as the payer typed it. */
export interface TypedIdRequest {
  intentId: string;
  chargeId: string;
  typed: string;
}
