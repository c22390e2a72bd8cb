import { assert } from '../../kit/assert.ts';
import type { Clock } from '../../kit/clock.ts';
import { formatAmount } from '../../kit/money.ts';
import type {
  Capabilities,
  CollectionCapabilities,
  CollectionOperations,
  CollectionResponse,
  Connector,
  LookUp,
  StartCollection,
} from '../contract.ts';
import { callbackSigningSecret } from '../../../../simulator/credentials.ts';
import { findSimulatedNetwork } from '../../../../simulator/network.ts';
import { createCallbackReader } from './callback.ts';
import { collectionCapabilities, refundCapabilities, simulatedCapabilities } from './capabilities.ts';
import type { Reply } from '../http-client.ts';
import { createSimulatedClient } from './client.ts';
import type { SimulatedClient } from './client.ts';
import { accountOf } from '../reference.ts';
import { truncated } from './request-values.ts';
import { createPayoutOperations, createRefundOperations } from './payouts.ts';
import { foundBySearch, isObject } from '../response-values.ts';
import { sessionIdHandle, sessionResponse, startResponse } from './translate.ts';

/** A connector that holds connections open until it is closed. */
export interface SimulatedConnector extends Connector {
  readonly collections: CollectionOperations;
  close(): Promise<void>;
}

export interface SimulatedConnectorsOptions {
  /** Where the simulated networks listen, without a trailing slash. Read for each call. */
  baseUrl: () => string;
  /** Verifies callbacks; the callback sender must have the same. */
  callbackSecret: string;
  /** Derives the credential of each merchant account; `simulatorRoutes` must have the same. */
  bearerSecret: string;
  clock: Clock;
  /** How long a call may take before its outcome counts as unknown. Default: 3 s. */
  requestTimeoutMs?: number;
  /** Connections to each network for each kind of call. Default: 32. */
  connectionsMax?: number;
}

/** The connectors of the test environment to the networks that still speak the private wire. */
export function createSimulatedConnectors(options: SimulatedConnectorsOptions): SimulatedConnector[] {
  const { callbackSecret, bearerSecret, requestTimeoutMs = 3_000, connectionsMax = 32 } = options;
  // Keys derived from an empty secret do not look empty, and anybody can derive them.
  assert(callbackSecret !== '', 'an empty secret would let anybody sign callbacks');
  assert(bearerSecret !== '', 'the simulated networks need a bearer secret');
  const served = simulatedCapabilities(requestTimeoutMs).filter(({ network }) =>
    speaksPrivately(network, 'collections'),
  );
  return served.map((capabilities) => {
    const { network } = capabilities;
    const client = createSimulatedClient({ ...options, network, callTimeoutMs: requestTimeoutMs, connectionsMax });
    return createConnector(capabilities, client, callbackSigningSecret(callbackSecret, network));
  });
}

/** The other networks have connectors of their own. */
function speaksPrivately(network: string, operation: 'collections' | 'payouts'): boolean {
  return findSimulatedNetwork(network)?.wires[operation] === 'private';
}

function createConnector(
  capabilities: Capabilities,
  client: SimulatedClient,
  signingSecret: string,
): SimulatedConnector {
  const refundable = refundCapabilities(capabilities.network);
  return {
    capabilities,
    collections: collectionOperations(client, collectionCapabilities(capabilities.network)),
    readCallback: createCallbackReader(signingSecret),
    payouts: speaksPrivately(capabilities.network, 'payouts') ? createPayoutOperations(client) : null,
    refunds: refundable && createRefundOperations(client, refundable),
    close: () => client.close(),
  };
}

function collectionOperations(client: SimulatedClient, capabilities: CollectionCapabilities): CollectionOperations {
  return {
    capabilities,
    start: async (request) => {
      const account = accountOf(request.reference);
      const reply = await client.call({ account, method: 'POST', path: '/collections', body: startBody(request) });
      return startResponse(reply, request.reference);
    },
    continue: (request) => {
      const { code } = request;
      if (code === null) return onSession(client, request, { step: 'confirm', body: {} });
      return onSession(client, request, { step: 'code', body: { code } });
    },
    cancel: (request) => onSession(client, request, { step: 'cancel', body: {} }),
    lookUp: async ({ reference, handles }) => {
      const sessionId = handles[sessionIdHandle];
      if (sessionId === undefined) return sessionResponse(await search(client, reference), reference);
      const path = `/collections/${encodeURIComponent(sessionId)}`;
      return sessionResponse(await client.call({ account: accountOf(reference), method: 'GET', path }), reference);
    },
  };
}

/** A step of a session that was started. If the start had no response, a search finds the session's id first. */
async function onSession(
  client: SimulatedClient,
  { reference, handles }: LookUp,
  { step, body }: { step: 'confirm' | 'code' | 'cancel'; body: Record<string, string> },
): Promise<CollectionResponse> {
  let sessionId = handles[sessionIdHandle];
  if (sessionId === undefined) {
    const found = await search(client, reference);
    const session = found.kind === 'response' && found.status === 200 ? found.body : undefined;
    const id = isObject(session) ? session['id'] : undefined;
    if (typeof id !== 'string') return sessionResponse(found, reference);
    sessionId = id;
  }
  const path = `/collections/${encodeURIComponent(sessionId)}/${step}`;
  return sessionResponse(await client.call({ account: accountOf(reference), method: 'POST', path, body }), reference);
}

async function search(client: SimulatedClient, reference: string): Promise<Reply> {
  const path = `/collections?reference=${encodeURIComponent(reference)}`;
  return foundBySearch(await client.call({ account: accountOf(reference), method: 'GET', path }));
}

/** The same bytes on every retry of an attempt: the network compares. */
function startBody(request: StartCollection): Record<string, string | null> {
  return {
    reference: request.reference,
    amount: formatAmount(request.amountMinor, { style: 'plain' }),
    currency: request.currency,
    payer_number: request.payerNumber,
    payer_number_as_sent: request.payerNumberAsSent,
    description: truncated(request.description),
    expires_at: request.expiresAt.toISOString(),
    return_url: request.returnUrl,
    callback_url: request.callbackUrl,
  };
}
