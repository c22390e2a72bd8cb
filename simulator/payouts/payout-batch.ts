/** A batch as stored. */
export interface StoredBatch {
  account: string;
  id: string;
  network: string;
  reference: string;
  fingerprint: string;
  payoutCount: bigint;
  createdAt: Date;
}

/** How long a network takes until it has come to the payouts of a batch. */
export const batchMs = 1_000;

/** A payout of a batch is paid once for its batch and its number there, whatever the client calls it. */
export function payoutReference(batchReference: string, index: number): string {
  return `${batchReference}/${index}`;
}
