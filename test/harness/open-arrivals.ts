import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiResponse } from './api-client.ts';

export interface Arrived {
  durationsMs: number[];
  /** How often each status came; `no response` where the connection failed. */
  statuses: Map<string, number>;
}

/**
 * Sends requests at a rate, whether or not earlier ones have been answered, as independent clients do: a service that falls behind gets
 * no rest.
 */
export async function arrive(
  { perSecond, seconds }: { perSecond: number; seconds: number },
  send: (index: number) => Promise<ApiResponse>,
): Promise<Arrived> {
  const arrived: Arrived = { durationsMs: [], statuses: new Map() };
  const began = performance.now();
  const pending: Promise<void>[] = [];
  const one = async (index: number): Promise<void> => {
    // From when it was due: a late sender is the service's delay too.
    const dueMs = began + (index * 1_000) / perSecond;
    const status = await send(index).then(
      (response) => String(response.status),
      () => 'no response',
    );
    arrived.durationsMs.push(performance.now() - dueMs);
    arrived.statuses.set(status, (arrived.statuses.get(status) ?? 0) + 1);
  };
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const waitMs = began + (index * 1_000) / perSecond - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    pending.push(one(index));
  }
  await Promise.all(pending);
  return arrived;
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0;
}
