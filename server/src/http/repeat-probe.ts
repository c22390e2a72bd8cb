import type { Clock } from '../kit/clock.ts';
import { RecentCopy } from '../kit/recent-copy.ts';

// As often as a load balancer checks. Each probe costs the database some milliseconds, however many requests share it.
const intervalMs = 5_000;
// While a probe takes longer, requests get the previous result.
const timeoutMs = 2_000;

/** What a probe of the database has found, at most every five seconds and only on request. Rejects as the probe does. */
export function repeatProbe<Result>(clock: Clock, probe: () => Promise<Result>, first: Result): () => Promise<Result> {
  const copy = new RecentCopy<Result>(intervalMs);
  let last = first;
  const load = async (): Promise<Result> => (last = await probe());
  return async () => {
    const finished = new AbortController();
    const fallback = clock.sleep(timeoutMs, finished.signal).then(() => last);
    return Promise.race([copy.read(clock, load), fallback]).finally(() => finished.abort());
  };
}
