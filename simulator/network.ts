/** How the payer approves: a link, a prompt, a prompt that the merchant confirms, a code typed at the merchant's. */
export type SessionShape = 'redirect' | 'push' | 'push_then_confirm' | 'code';

/** One of the networks that the simulator stands in for. */
export interface SimulatedNetwork {
  readonly id: string;
  readonly displayName: string;
  readonly shape: SessionShape;
  /** A link can be opened by anybody; the others send something to a number. */
  readonly numberRequired: boolean;
  /** What it gives back of a collection: nothing, the whole amount only, or any part. */
  readonly refunds: 'none' | 'whole' | 'parts';
}

/** The four shapes of the country, one network each; Wave and Afrimoney as they are known to behave. */
export const simulatedNetworks: readonly SimulatedNetwork[] = [
  { id: 'wave', displayName: 'Wave', shape: 'redirect', numberRequired: false, refunds: 'whole' },
  { id: 'afrimoney', displayName: 'Afrimoney', shape: 'push_then_confirm', numberRequired: true, refunds: 'none' },
  { id: 'qmoney', displayName: 'QMoney', shape: 'code', numberRequired: true, refunds: 'none' },
  { id: 'aps', displayName: 'APS', shape: 'push', numberRequired: true, refunds: 'parts' },
];

export function findSimulatedNetwork(id: string): SimulatedNetwork | undefined {
  return simulatedNetworks.find((network) => network.id === id);
}
