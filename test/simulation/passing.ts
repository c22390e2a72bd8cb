/** How a run lets time pass. */
export interface Passing {
  pass(ms: number): Promise<void>;
  untilIdle(): Promise<void>;
  /** Works off everything; what is left at last is the result. */
  finish(): Promise<string | null>;
  untilDone<Result>(work: Promise<Result>): Promise<Result>;
}
