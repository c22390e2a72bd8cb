// Requests whose polls are counted at once; the oldest is forgotten first. Each entry is some hundred bytes.
const requestsMax = 10_000;

/**
 * Counts the polls of each request's state: a provider says how many it accepts (`pollLimit`). The count is this process's
 * own, so with several workers a request may be polled that many times by each.
 */
export class PollBudget {
  readonly #spent = new Map<string, number>();

  /** Whether one more poll is within the limit; null is no limit. */
  spend(request: string, limit: number | null): boolean {
    const spent = this.#spent.get(request) ?? 0;
    if (limit !== null && spent >= limit) return false;
    this.#spent.delete(request);
    this.#spent.set(request, spent + 1);
    if (this.#spent.size > requestsMax) {
      const [oldest] = this.#spent.keys();
      if (oldest !== undefined) this.#spent.delete(oldest);
    }
    return true;
  }
}
