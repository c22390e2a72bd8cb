import { formatAmount } from '../../kit/money.ts';
import type {
  Connector,
  CollectionOperations,
  OutgoingOperations,
  PayoutCapabilities,
  PayoutOperations,
  RefundOperations,
  StartCollection,
  StartPayout,
  StartRefund,
} from '../contract.ts';
import { hintUrl, readHint, type HintSubject } from '../hints.ts';
import { capabilitiesOf, type ConnectorAccount } from '../connector-account.ts';
import type { Reply } from '../http-client.ts';
import { wireNumber } from '../wire-number.ts';
import { collectionCapabilities, payoutCapabilities, refundCapabilities } from './capabilities.ts';
import { correlationId, createGsmaClient, type GsmaClient, type GsmaCredentials } from './client.ts';
import type { GsmaConfiguration, GsmaNetwork } from './configuration.ts';
import { lookUpRequest, sendRequest, type RequestContext } from './requests.ts';
import { statementSource } from './statements.ts';
import { collectionResponse, payoutResponse } from './translate.ts';

export interface GsmaConnectorOptions extends ConnectorAccount {
  configuration: GsmaConfiguration;
  credentialsFor: (reference: string | null) => GsmaCredentials;
  breakerScope: PayoutCapabilities['breakerScope'];
}

/** A connector that holds connections open until it is closed. */
export interface GsmaConnector extends Connector {
  /** The provider's own report of its health. */
  heartbeat(): Promise<Reply>;
  /** Looks up a request that was never made: what a provider refuses here, it refuses for its credential. */
  findNothing(): Promise<Reply>;
  close(): Promise<void>;
}

/** One connector for each network that the provider serves, all with one account. */
export function createGsmaConnectors(options: GsmaConnectorOptions): GsmaConnector[] {
  // The statement is the account's: one of its connectors has it.
  return options.configuration.networks.map((network, index) =>
    createConnector(options, network, { hasStatements: index === 0 }),
  );
}

/** What the operations of one network share. */
interface Rail {
  configuration: GsmaConfiguration;
  client: GsmaClient;
}

function createConnector(
  options: GsmaConnectorOptions,
  network: GsmaNetwork,
  { hasStatements }: { hasStatements: boolean },
): GsmaConnector {
  const { configuration, breakerScope } = options;
  const client = createGsmaClient({ ...options, network });
  const rail: Rail = { configuration, client };
  const statements = hasStatements ? statementSource(client, configuration) : null;
  return {
    capabilities: capabilitiesOf(network.network, options),
    collections: network.collects ? collectionOperations(rail) : null,
    payouts: network.paysOut ? payoutOperations(rail, breakerScope) : null,
    refunds: refundOperations(rail, network),
    ...(statements && { statements }),
    readCallback: readHint,
    heartbeat: () => client.heartbeat(),
    findNothing: () => client.get(`/responses/${correlationId('nothing')}`, 'nothing'),
    close: () => client.close(),
  };
}

function collectionOperations(rail: Rail): CollectionOperations {
  const contextOf = (reference: string): RequestContext => ({ ...rail, reference, type: 'merchantpay' });
  const lookUp: CollectionOperations['lookUp'] = async (request) =>
    collectionResponse(await lookUpRequest(contextOf(request.reference), request));
  return {
    capabilities: collectionCapabilities(rail.configuration),
    start: async (request) => {
      const sent = {
        pool: 'collections',
        path: '/transactions/type/merchantpay',
        body: collectionBody(rail, request),
        callbackUrl: callbackOf(rail, request, 'collection'),
      } as const;
      return collectionResponse(await sendRequest(contextOf(request.reference), sent));
    },
    // The payer approves on the phone, so there is nothing to continue with.
    continue: lookUp,
    cancel: lookUp,
    lookUp,
  };
}

function payoutOperations(rail: Rail, breakerScope: PayoutCapabilities['breakerScope']): PayoutOperations {
  const capabilities = payoutCapabilities(rail.configuration, breakerScope);
  return outgoingOperations<StartPayout, PayoutCapabilities>(rail, 'disbursement', capabilities, (request) => ({
    path: '/transactions/type/disbursement',
    body: {
      ...moneyOf(rail, request),
      creditParty: [partyOf(rail, request.beneficiaryNumber)],
      ...ownPartyAs(rail, 'debitParty'),
      ...textsOf(request),
    },
  }));
}

function refundOperations(rail: Rail, network: GsmaNetwork): RefundOperations | null {
  const capabilities = refundCapabilities(rail.configuration, network);
  if (!capabilities) return null;
  return outgoingOperations<StartRefund, typeof capabilities>(rail, 'reversal', capabilities, (request) => ({
    path: `/transactions/${encodeURIComponent(request.originalTransactionId)}/reversals`,
    // An amount asks for a part; providers that reverse the whole only refuse it.
    body: { type: 'reversal', ...(capabilities.partial ? moneyOf(rail, request) : {}), ...textsOf(request) },
  }));
}

function outgoingOperations<Request extends StartPayout | StartRefund, Limits>(
  rail: Rail,
  type: 'disbursement' | 'reversal',
  capabilities: Limits,
  render: (request: Request) => { path: string; body: Record<string, unknown> },
): OutgoingOperations<Request, Limits> {
  const contextOf = (reference: string): RequestContext => ({ ...rail, reference, type });
  return {
    capabilities,
    start: async (request) => {
      const sent = { pool: 'payouts', ...render(request), callbackUrl: callbackOf(rail, request, 'payout') } as const;
      return payoutResponse(await sendRequest(contextOf(request.reference), sent));
    },
    lookUp: async (request) => payoutResponse(await lookUpRequest(contextOf(request.reference), request)),
  };
}

/** The same bytes on every retry of a request. */
function collectionBody(rail: Rail, request: StartCollection): Record<string, unknown> {
  const { payerNumber } = request;
  return {
    ...moneyOf(rail, request),
    debitParty: payerNumber === null ? [] : [partyOf(rail, payerNumber)],
    ...ownPartyAs(rail, 'creditParty'),
    ...textsOf(request),
  };
}

function moneyOf(
  { configuration }: Rail,
  { amountMinor, currency }: { amountMinor: bigint; currency: string },
): { amount: string; currency: string } {
  const text = formatAmount(amountMinor, { style: 'plain' });
  return { amount: configuration.amounts.decimals === 'always' ? text : text.replace(/\.00$/, ''), currency };
}

function partyOf({ configuration }: Rail, number: string): { key: string; value: string } {
  const { key, ...form } = configuration.identifier;
  return { key, value: wireNumber(number, form) };
}

function ownPartyAs({ configuration }: Rail, side: 'creditParty' | 'debitParty'): Record<string, unknown> {
  return configuration.ownParty === null ? {} : { [side]: [configuration.ownParty] };
}

// The API's limit of a text.
const textLengthMax = 256;

function textsOf({ reference, description }: { reference: string; description: string }): Record<string, string> {
  return {
    requestingOrganisationTransactionReference: reference,
    // Cutting may leave half a surrogate pair at the end, which strict JSON parsers refuse.
    descriptionText: description.slice(0, textLengthMax).toWellFormed(),
  };
}

function callbackOf(
  { configuration }: Rail,
  { callbackUrl, reference }: { callbackUrl: string; reference: string },
  operation: HintSubject['operation'],
): string | null {
  return configuration.callbacks ? hintUrl(callbackUrl, { reference, operation }) : null;
}
