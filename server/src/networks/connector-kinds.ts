import { payinKind } from './54pay/kind.ts';
import type { ConnectorKind } from './connector-kind.ts';
import { gsmaKind } from './gsma/kind.ts';
import { receiptsKind } from './receipts/kind.ts';
import { waveKind } from './wave/kind.ts';

/** Everything that an operator can connect. A new connector is one line here. */
export const connectorKinds: readonly ConnectorKind[] = [waveKind, gsmaKind, payinKind, receiptsKind];

export function findConnectorKind(name: string): ConnectorKind | undefined {
  return connectorKinds.find((kind) => kind.name === name);
}
