/** What changed: a kind and which one of it, for example `intent:<id>`. */
export type Topic = `${string}:${string}`;

/**
 * Reports changes across processes within milliseconds. A notification is only a hint and may be lost: a listener reads the
 * database for the facts, and also polls.
 */
export interface ChangeFeed {
  /** Never inside a transaction: NOTIFY takes a global lock at commit. Hints are batched. */
  notify(topic: Topic): void;
  /** Returns the function that ends the subscription. */
  subscribe(topic: Topic, listener: () => void): () => void;
  /** Every topic of a kind; the listener gets the key of the topic that changed. */
  subscribeKind(kind: string, listener: (key: string) => void): () => void;
}
