import { setTimeout as sleep } from 'node:timers/promises';

/** Lets time pass in which a long run measures what happens; a test that waits for something takes `eventually`. */
export async function elapse(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
