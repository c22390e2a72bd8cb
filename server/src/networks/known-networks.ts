import type { Operator } from '../kit/phone-number.ts';

/** A mobile-money network of the interface, whoever connects to it. */
export interface KnownNetwork {
  readonly id: string;
  readonly displayName: string;
  /** The mobile operator that runs the wallet: its subscribers likely have one. Null where any number may. */
  readonly operator: Operator | null;
}

/** In the order in which payers see them. */
export const knownNetworks: readonly KnownNetwork[] = [
  { id: 'wave', displayName: 'Wave', operator: null },
  { id: 'afrimoney', displayName: 'Afrimoney', operator: 'africell' },
  { id: 'qmoney', displayName: 'QMoney', operator: 'qcell' },
  { id: 'aps', displayName: 'APS', operator: null },
];

export function findKnownNetwork(id: string): KnownNetwork | undefined {
  return knownNetworks.find((network) => network.id === id);
}

/** A network's display name; its id where it is not known, as in a test. */
export function networkName(id: string): string {
  return findKnownNetwork(id)?.displayName ?? id;
}
