/** How the payer approves: a link, a prompt, a prompt that the merchant confirms, a code entered at the merchant. */
export type SessionShape = 'redirect' | 'push' | 'push_then_confirm' | 'code';

/** The wires that the simulated networks speak (`network-wire.ts`). */
export type WireName = 'wave' | '54pay' | 'gsma';

/** A network that the simulator replaces. */
export interface SimulatedNetwork {
  readonly id: string;
  readonly displayName: string;
  readonly shape: SessionShape;
  /** Anybody can open a link; the other shapes send a prompt or a code to a number. */
  readonly numberRequired: boolean;
  /** Where a payer enters a one-time code: on the merchant's page, or at the network itself, on the phone. */
  readonly codes: 'page' | 'phone';
  /** Refunds of a collection: none, the whole amount only, or parts. */
  readonly refunds: 'none' | 'whole' | 'parts';
  /** What it speaks where it collects, and where it pays out and refunds. */
  readonly wires: { readonly collections: WireName; readonly payouts: WireName };
}

const aggregatedWires = { collections: '54pay', payouts: 'gsma' } as const;
const gsmaWires = { collections: 'gsma', payouts: 'gsma' } as const;

/** One network for each of the four shapes in The Gambia; Wave and Afrimoney as they are known to behave. */
export const simulatedNetworks: readonly SimulatedNetwork[] = [
  {
    id: 'wave',
    displayName: 'Wave',
    shape: 'redirect',
    numberRequired: false,
    codes: 'page',
    refunds: 'whole',
    wires: { collections: 'wave', payouts: 'wave' },
  },
  {
    id: 'afrimoney',
    displayName: 'Afrimoney',
    shape: 'push_then_confirm',
    numberRequired: true,
    codes: 'page',
    refunds: 'none',
    wires: aggregatedWires,
  },
  {
    id: 'qmoney',
    displayName: 'QMoney',
    shape: 'code',
    numberRequired: true,
    codes: 'page',
    refunds: 'none',
    wires: aggregatedWires,
  },
  {
    id: 'aps',
    displayName: 'APS',
    shape: 'push',
    numberRequired: true,
    codes: 'phone',
    refunds: 'parts',
    wires: gsmaWires,
  },
];

export function findSimulatedNetwork(id: string): SimulatedNetwork | undefined {
  return simulatedNetworks.find((network) => network.id === id);
}
