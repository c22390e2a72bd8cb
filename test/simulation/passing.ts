/** How a run lets time pass. */
export interface Passing {
  pass(ms: number): Promise<void>;
  untilIdle(): Promise<void>;
  untilDone<Result>(work: Promise<Result>): Promise<Result>;
}
