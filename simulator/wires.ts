import { createPayinWire } from './54pay/report.ts';
import { createGsmaWire } from './gsma/gsma-wire.ts';
import type { NetworkWires } from './network-wire.ts';
import { createWaveWire, type WaveWireOptions } from './wave/wave-wire.ts';

export type NetworkWiresOptions = WaveWireOptions;

/** Every wire that a simulated network speaks. */
export function createNetworkWires(options: NetworkWiresOptions): NetworkWires {
  return { wave: createWaveWire(options), '54pay': createPayinWire(), gsma: createGsmaWire() };
}
