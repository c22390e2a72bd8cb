import { secondMs } from '../../kit/clock.ts';
import { amountToJson } from '../../kit/money.ts';
import type {
  CollectionOperations,
  CollectionResponse,
  CollectionShape,
  Connector,
  LookUp,
  StartCollection,
} from '../contract.ts';
import { hintUrl, readHint } from '../hints.ts';
import { capabilitiesOf, type ConnectorAccount } from '../connector-account.ts';
import type { Reply } from '../http-client.ts';
import { milliseconds } from '../read-configuration.ts';
import { wireNumber } from '../wire-number.ts';
import { createPayinClient, type PayinClient } from './client.ts';
import type { PayinNetwork, PayinOptions } from './options.ts';
import { readCompletion, readPayin, readStatus, type PayinContext, type PayinResponse } from './translate.ts';

export interface PayinConnectorOptions extends ConnectorAccount {
  publicKeyFor: (reference: string) => string;
  options: PayinOptions;
  amountStepMinor: bigint;
}

/** A connector that holds connections open until it is closed. */
export interface PayinConnector extends Connector {
  readonly collections: CollectionOperations;
  /** Asks for the status of a payment that never was: what the provider refuses here, it refuses for its credential. */
  findNothing(): Promise<Reply>;
  close(): Promise<void>;
}

/** One connector for each network that the account collects on; the provider's payouts are not public. */
export function createPayinConnectors(setup: PayinConnectorOptions): PayinConnector[] {
  return setup.options.networks.map((network) => createConnector(setup, network));
}

const shapes: Readonly<Record<PayinNetwork['operatorCode'], CollectionShape>> = {
  GMWAV: 'redirect',
  GMAFR: 'push_then_confirm',
  GMQMO: 'code',
};

function createConnector(setup: PayinConnectorOptions, { network, operatorCode }: PayinNetwork): PayinConnector {
  const client = createPayinClient(setup);
  return {
    capabilities: capabilitiesOf(network, setup),
    collections: collectionOperations(client, setup, operatorCode),
    payouts: null,
    refunds: null,
    readCallback: readHint,
    findNothing: () => client.get(statusPathOf(setup.options, 'nothing'), 'nothing'),
    close: () => client.close(),
  };
}

function collectionOperations(
  client: PayinClient,
  { options, amountStepMinor }: PayinConnectorOptions,
  operatorCode: PayinNetwork['operatorCode'],
): CollectionOperations {
  const contextOf = (reference: string): PayinContext => ({ options, operatorCode, reference });
  const lookUp = async ({ reference, handles }: LookUp): Promise<CollectionResponse> => {
    const path = statusPathOf(options, reference);
    return readStatus(await client.get(path, reference), contextOf(reference), handles);
  };
  return {
    capabilities: {
      shape: shapes[operatorCode],
      // The provider wants a number of each payer, also where the payer only opens a link.
      numberRequired: true,
      canCancel: false,
      amountStepMinor,
      lookUpDelaysMs: milliseconds(options.lookUpSeconds),
      notFoundIsFinalAfterMs: options.notFoundIsFinalSeconds * secondMs,
      recheckAfterMs: milliseconds(options.recheckSeconds),
    },
    start: async (request) => {
      const { reference } = request;
      const module = moduleOf(request, options);
      const body = payinBody(request, contextOf(reference));
      const reply = await client.post(options.payinPath, { reference, module, body });
      const response = readPayin(reply, contextOf(reference));
      return response.state === 'look_up' ? lookUpKnown(lookUp, { reference, handles: {} }) : response;
    },
    continue: async (request) => {
      const { reference, handles, code } = request;
      const body = JSON.stringify({ transactionReference: reference, ...(code === null ? {} : { otp: code }) });
      const module = moduleOf(request, options);
      const reply = await client.post(options.completePath, { reference, module, body });
      const response: PayinResponse = readCompletion(reply, contextOf(reference));
      return response.state === 'look_up' ? lookUpKnown(lookUp, { reference, handles }) : response;
    },
    cancel: lookUp,
    lookUp,
  };
}

function statusPathOf({ statusPath }: PayinOptions, reference: string): string {
  return statusPath.replace('{reference}', encodeURIComponent(reference));
}

/** Looks up a reference that the provider has just said it knows. */
async function lookUpKnown(lookUp: CollectionOperations['lookUp'], request: LookUp): Promise<CollectionResponse> {
  const response = await lookUp(request);
  return response.state === 'not_found' ? { state: 'unknown', detail: 'a known reference is not found' } : response;
}

// The documents name no limit; statements of the networks show far less.
const textLengthMax = 100;

/** The text that the documents call the module of a request: the same for its start and its later steps. */
function moduleOf(
  { reference, amountMinor, payerNumber }: Pick<StartCollection, 'reference' | 'amountMinor' | 'payerNumber'>,
  options: PayinOptions,
): string {
  return `${amountToJson(amountMinor)}${reference}${numberOf(payerNumber, options)}`;
}

function numberOf(payerNumber: string | null, { numberForm }: PayinOptions): string {
  return payerNumber === null ? '' : wireNumber(payerNumber, numberForm);
}

/** The same bytes on every retry of a request. */
function payinBody(request: StartCollection, { options, operatorCode }: PayinContext): string {
  const { reference, payerNumber, returnUrl, description } = request;
  const body = {
    requestHeader: { clientId: options.clientId, requestType: options.requestType },
    customerName: options.customerName,
    customerEmail: options.customerEmail,
    customerNumber: numberOf(payerNumber, options),
    transactionReference: reference,
    transactionDescription: description.slice(0, textLengthMax).toWellFormed(),
    transactionAmount: amountToJson(request.amountMinor),
    transactionCurrency: request.currency,
    transactionCountry: 'GM',
    transactionType: options.transactionType,
    operatorCode,
    ...{ successUrl: returnUrl, errorUrl: returnUrl, cancelUrl: returnUrl },
    webhookUrl: hintUrl(request.callbackUrl, { reference, operation: 'collection' }),
  };
  return JSON.stringify(body);
}
