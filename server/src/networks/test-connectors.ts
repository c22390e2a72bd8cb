import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import { createPayinTestConnectors } from './54pay/test-account.ts';
import type { Connector } from './contract.ts';
import { createGsmaTestConnectors } from './gsma/test-account.ts';
import { createWaveTestConnector } from './wave/test-account.ts';

export interface TestConnectorsOptions {
  /** Where the simulated networks listen, without a trailing slash. Read for each call. */
  baseUrl: () => string;
  /** Verifies callbacks; the callback sender must have the same. */
  callbackSecret: string;
  /** Derives the credentials of each merchant account; `simulatorRoutes` must have the same. */
  bearerSecret: string;
  clock: Clock;
}

/** A connector of the test environment. It holds connections open until it is closed. */
export type TestConnector = Connector & { close(): Promise<void> };

/** The connectors of the test environment. They speak to the simulated networks as the live ones do to the real ones. */
export function createTestConnectors(options: TestConnectorsOptions): TestConnector[] {
  const { callbackSecret, bearerSecret } = options;
  // Keys derived from an empty secret do not look empty, and anybody can derive them.
  assert(callbackSecret !== '', 'an empty secret would let anybody sign callbacks');
  assert(bearerSecret !== '', 'the simulated networks need a bearer secret');
  const account = { ...options, callTimeoutMs: 3_000 };
  return [
    createWaveTestConnector(account),
    ...createPayinTestConnectors(account),
    ...createGsmaTestConnectors(account),
  ];
}
