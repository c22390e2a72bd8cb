import { createPayinWire } from './54pay/report.ts';
import { createGsmaWire } from './gsma/gsma-wire.ts';
import type { NetworkWires } from './network-wire.ts';
import { createPrivateWire } from './private-wire.ts';
import type { PrivateWireOptions } from './private-wire.ts';
import { createWaveWire } from './wave/wave-wire.ts';

export type NetworkWiresOptions = PrivateWireOptions;

/** Every wire that a simulated network speaks. */
export function createNetworkWires(options: NetworkWiresOptions): NetworkWires {
  return {
    private: createPrivateWire(options),
    wave: createWaveWire(options),
    '54pay': createPayinWire(),
    gsma: createGsmaWire(),
  };
}
