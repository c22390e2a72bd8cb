/**
 * Starts one PostgreSQL for all test files of a run: `node --test --test-global-setup=<this file> …`. A run that a test
 * starts uses the cluster of its parent.
 */
import { readTestClusterFrom, startTestCluster, type TestCluster } from './cluster.ts';

let cluster: TestCluster | undefined;

export async function globalSetup(): Promise<void> {
  if (readTestClusterFrom(process.env)) return;
  cluster = await startTestCluster();
  Object.assign(process.env, cluster.env);
}

export async function globalTeardown(): Promise<void> {
  await cluster?.stop();
}
