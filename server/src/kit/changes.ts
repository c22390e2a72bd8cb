/** What changed: a kind and which one of it, for example `intent:<id>` or `network_inbox:<lane>`. */
export type Topic = `${string}:${string}`;

/**
 * Says within milliseconds, across processes, that something changed. Only a hint: whoever listens reads the database
 * for what is true, and also looks by itself now and then, because a hint may be lost.
 */
export interface ChangeFeed {
  /** Never inside a transaction: notifying takes a global lock at commit. Hints are gathered and sent together. */
  notify(topic: Topic): void;
  /** Answers the function that ends the subscription. */
  subscribe(topic: Topic, listener: () => void): () => void;
  /** Every topic of a kind; the listener is told which one it was. */
  subscribeKind(kind: string, listener: (key: string) => void): () => void;
}
