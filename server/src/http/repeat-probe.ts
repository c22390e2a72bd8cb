import type { Clock } from '../kit/clock.ts';
import { RecentCopy } from '../kit/recent-copy.ts';

// As often as a load balancer checks. Each probe costs the database some milliseconds, however many requests share it.
const intervalMs = 5_000;
// While a probe takes longer, requests get the previous result …
const timeoutMs = 2_000;
// … but not for longer than three intervals: a database that never responds looks well otherwise.
const lastResultMs = 15_000;

/** What a probe of the database has found, at most every five seconds and only on request. Rejects as the probe does. */
export function repeatProbe<Result>(
  clock: Clock,
  probe: () => Promise<Result>,
  /** The result before the first probe has ended, and while none ends any more. */
  { first, overdue }: { first: Result; overdue: Result },
): () => Promise<Result> {
  const copy = new RecentCopy<Result>(intervalMs);
  let last = first;
  /** Of the first probe since one has ended well. */
  let begunAt: Date | null = null;
  const load = async (): Promise<Result> => {
    begunAt ??= clock.now();
    last = await probe();
    begunAt = null;
    return last;
  };
  const lastResult = (): Result =>
    begunAt !== null && clock.now().getTime() - begunAt.getTime() >= lastResultMs ? overdue : last;
  return async () => {
    const finished = new AbortController();
    const fallback = clock.sleep(timeoutMs, finished.signal).then(lastResult);
    return Promise.race([copy.read(clock, load), fallback]).finally(() => finished.abort());
  };
}
