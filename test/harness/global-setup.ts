/**
 * One PostgreSQL for all test files of a run, by Node's test runner: `node --test --test-global-setup=<this file> …`.
 * A run that is itself started by a test uses that one's.
 */
import { readTestClusterFrom, startTestCluster } from './cluster.ts';
import type { TestCluster } from './cluster.ts';

let cluster: TestCluster | undefined;

export async function globalSetup(): Promise<void> {
  if (readTestClusterFrom(process.env)) return;
  cluster = await startTestCluster();
  Object.assign(process.env, cluster.env);
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop();
}
