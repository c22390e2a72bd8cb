import type { Metrics } from '../../http/metrics.ts';
import { addMs, secondsSince, type Clock } from '../../kit/clock.ts';
import type { Log } from '../../kit/log.ts';
import { comparePages } from './compare-scripts.ts';

export interface ScriptComparisonOptions {
  /** Where browsers reach the service, through its proxy. */
  publicUrl: () => string;
  /** False where no proxy is to be expected, as in development. */
  isOn: boolean;
  clock: Clock;
  log: Log;
  /** Aborted when the process stops. */
  closing: AbortSignal;
}

// While an upgrade rolls, the proxy may still lead to a process of the release before.
const firstAfterMs = 5 * 60_000;
const everyMs = 3_600_000;

/**
 * What `pages verify` does, by the service itself every hour: fetches its own pages through the proxy in front of it, and compares their
 * scripts with those that it sends.
 */
export class ScriptComparisons {
  readonly #options: ScriptComparisonOptions;
  #dueAt: Date;
  #verifiedAt: Date;
  /** Of the last one: what was wrong; empty where nothing was, null before the first. */
  #problem: string | null = null;

  constructor(options: ScriptComparisonOptions) {
    this.#options = options;
    // So that one that never succeeds is noticed.
    this.#verifiedAt = options.clock.now();
    this.#dueAt = addMs(this.#verifiedAt, firstAfterMs);
  }

  get isOn(): boolean {
    return this.#options.isOn;
  }

  /** Makes one if it is due, and remembers how it ended. Never rejects. */
  async run(): Promise<void> {
    const { clock, log, closing } = this.#options;
    const now = clock.now();
    if (now < this.#dueAt) return;
    this.#dueAt = addMs(now, everyMs);
    const problem = await this.#compare().catch((error: unknown) => String(error));
    if (closing.aborted) return;
    this.#problem = problem;
    if (problem === '') this.#verifiedAt = now;
    else log.error('the pages were not found to have the scripts of this release', undefined, { reason: problem });
  }

  register(metrics: Metrics): void {
    const { clock } = this.#options;
    metrics.figure(
      'dalasi_page_scripts_wrong',
      '1 if the last comparison of this process did not find the scripts of its release at PUBLIC_URL, else 0.',
      () => (this.#problem === null ? null : Number(this.#problem !== '')),
    );
    metrics.figure(
      'dalasi_page_scripts_verified_seconds',
      'How long ago this process last found the scripts of its release at PUBLIC_URL.',
      () => (this.isOn ? secondsSince(clock, this.#verifiedAt) : null),
    );
  }

  async #compare(): Promise<string> {
    const { publicUrl, closing } = this.#options;
    const { isRight, findings } = await comparePages(publicUrl(), { signal: closing });
    if (isRight) return '';
    return findings.map(({ page, what }) => `${page}: ${what}`).join('; ') || 'no page has a script';
  }
}
