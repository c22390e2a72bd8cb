import { createGsmaTestConnectors } from './gsma/test-account.ts';
import { createSimulatedConnectors } from './simulated/connectors.ts';
import type { SimulatedConnectorsOptions } from './simulated/connectors.ts';
import type { Connector } from './contract.ts';

/** A connector of the test environment. It holds connections open until it is closed. */
export type TestConnector = Connector & { close(): Promise<void> };

/** The connectors of the test environment. They speak to the simulated networks as the live ones do to the real ones. */
export function createTestConnectors(options: SimulatedConnectorsOptions): TestConnector[] {
  const { requestTimeoutMs: callTimeoutMs = 3_000 } = options;
  return [...createSimulatedConnectors(options), ...createGsmaTestConnectors({ ...options, callTimeoutMs })];
}
