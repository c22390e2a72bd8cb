import { createSimulatedConnectors } from './simulated/connectors.ts';
import type { SimulatedConnectorsOptions } from './simulated/connectors.ts';
import type { CollectingConnector } from './contract.ts';
import { createWaveTestConnector } from './wave/test-account.ts';

/** A connector of the test environment. It holds connections open until it is closed. */
export type TestConnector = CollectingConnector & { close(): Promise<void> };

/** The connectors of the test environment. They speak to the simulated networks as the live ones do to the real ones. */
export function createTestConnectors(options: SimulatedConnectorsOptions): TestConnector[] {
  const { requestTimeoutMs: callTimeoutMs = 3_000 } = options;
  return [createWaveTestConnector({ ...options, callTimeoutMs }), ...createSimulatedConnectors(options)];
}
