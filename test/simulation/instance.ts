import { AsyncLocalStorage } from 'node:async_hooks';
import type { App } from '../../server/src/app/app.ts';
import type { FaultKind } from './kinds.ts';

/** One run of one process of the service; after a crash its machine starts another. */
export interface Instance {
  /** `api-1`, and the number of its run: `api-1.2`. */
  name: string;
  machine: Machine;
  hasCrashed: boolean;
  app: App | undefined;
  /** Fails the requests and transactions under way when the instance crashes. */
  onCrash: Set<() => void>;
}

export const machineNames = ['api-1', 'api-2', 'worker-1', 'worker-2'] as const;
/** Where operators work. It does not crash. */
export const consoleName = 'console';

export interface Machine {
  name: string;
  role: 'api' | 'worker';
  clockErrorMs: number;
  /** What befalls its next statement, or its next commit. */
  databaseFault: FaultKind | undefined;
  runs: number;
  instance: Instance | undefined;
}

// Whose code runs is not handed down, because the product must not know that it is simulated.
const running = new AsyncLocalStorage<Instance | undefined>();

export function currentInstance(): Instance | undefined {
  return running.getStore();
}

export function asInstance<Result>(instance: Instance | undefined, body: () => Result): Result {
  return running.run(instance, body);
}

/** What the body ends with, or this error once the instance crashes. */
export async function untilCrash<Result>(
  instance: Instance,
  error: Error,
  body: () => Promise<Result>,
): Promise<Result> {
  const crashed = Promise.withResolvers<never>();
  const fail = (): void => crashed.reject(error);
  if (instance.hasCrashed) fail();
  instance.onCrash.add(fail);
  try {
    return await Promise.race([crashed.promise, body()]);
  } finally {
    instance.onCrash.delete(fail);
  }
}

/** What an instance that has crashed waits for. */
export function never<Result>(): Promise<Result> {
  return new Promise(() => {});
}
