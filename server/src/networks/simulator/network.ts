/** How the payer approves: a link, a prompt, a prompt that the merchant confirms, a code typed at the merchant's. */
export type SessionShape = 'redirect' | 'push' | 'push_then_confirm' | 'code';

/** One of the networks that the simulator stands in for. */
export interface SimulatedNetwork {
  readonly id: string;
  readonly displayName: string;
  readonly shape: SessionShape;
  /** A link can be opened by anybody; the others send something to a number. */
  readonly numberRequired: boolean;
}

/** The four shapes of the country, one network each; Wave and Afrimoney as they are known to behave. */
export const simulatedNetworks: readonly SimulatedNetwork[] = [
  { id: 'wave', displayName: 'Wave', shape: 'redirect', numberRequired: false },
  { id: 'afrimoney', displayName: 'Afrimoney', shape: 'push_then_confirm', numberRequired: true },
  { id: 'qmoney', displayName: 'QMoney', shape: 'code', numberRequired: true },
  { id: 'aps', displayName: 'APS', shape: 'push', numberRequired: true },
];

export function findSimulatedNetwork(id: string): SimulatedNetwork | undefined {
  return simulatedNetworks.find((network) => network.id === id);
}
