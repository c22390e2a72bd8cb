/** When a promise is checked. `production`: always, by a metric that an operator alerts on. */
export type Gate = 'change' | 'long' | 'release' | 'production';

/** What the service promises, and what holds it. */
export interface ServicePromise {
  /** A letter for the group and a number, which other documents may cite. */
  id: string;
  promise: string;
  gates: readonly Gate[];
  /**
   * Titles of tests by file, as in the source; `…` stands for what is filled in. Only tests that were read and judged to hold the
   * promise.
   */
  tests?: Readonly<Record<string, readonly string[]>>;
  /** Parts of benchmarks/results.md. */
  benchmarks?: readonly string[];
  /** Metrics whose alert holds it in production (docs/operations.md, "Monitoring"). */
  metrics?: readonly string[];
  /** How what holds it is less than the promise says. */
  weaker?: string;
  /** What is missing, where nothing holds it. */
  open?: string;
}

export interface PromiseGroup {
  title: string;
  promises: readonly ServicePromise[];
}

export type PromiseState = 'held' | 'weaker' | 'open';

export function stateOf({ weaker, open }: ServicePromise): PromiseState {
  if (open !== undefined) return 'open';
  return weaker === undefined ? 'held' : 'weaker';
}
