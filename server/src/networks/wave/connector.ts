import type { CollectionOperations, Connector, PayoutOperations, RefundOperations } from '../contract.ts';
import { capabilitiesOf, type ConnectorAccount } from '../connector-account.ts';
import type { Reply } from '../http-client.ts';
import { createCallbackReader, type WebhookSecrets } from './callback.ts';
import { createWaveClient, type WaveCredentials } from './client.ts';
import { collectionOperations } from './collections.ts';
import type { WaveOptions } from './options.ts';
import { payoutOperations } from './payouts.ts';
import { refundOperations } from './refunds.ts';
import { statementSource } from './statement.ts';
import type { WaveRail } from './wave-rail.ts';

export interface WaveConnectorOptions extends ConnectorAccount {
  credentialsFor: (reference: string | null) => WaveCredentials;
  webhookSecrets: WebhookSecrets;
  options: WaveOptions;
  /** False where there is no wallet of all payments, as in the test environment. */
  hasStatement?: boolean;
}

/** A connector that holds connections open until it is closed. */
export interface WaveConnector extends Connector {
  readonly collections: CollectionOperations;
  readonly payouts: PayoutOperations;
  readonly refunds: RefundOperations;
  /** Wave's response to a question for the balance: what it refuses here, it refuses for the credential. */
  readBalance(): Promise<Reply>;
  close(): Promise<void>;
}

/** The connector of one wallet at Wave's own API. */
export function createWaveConnector(setup: WaveConnectorOptions): WaveConnector {
  const { clock, options } = setup;
  const client = createWaveClient({ ...setup, signGets: options.signGets });
  const rail: WaveRail = { client, clock, options };
  return {
    capabilities: capabilitiesOf('wave', setup),
    collections: collectionOperations(rail),
    payouts: payoutOperations(rail),
    refunds: refundOperations(rail),
    ...(setup.hasStatement === false ? {} : { statements: statementSource(client) }),
    readCallback: createCallbackReader(setup.webhookSecrets, options),
    readBalance: () => client.get('/v1/balance', null),
    close: () => client.close(),
  };
}
