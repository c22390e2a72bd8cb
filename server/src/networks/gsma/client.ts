import { createHash } from 'node:crypto';
import { stableUuid } from '../../kit/ids.ts';
import { createNetworkClient, type ConnectionPool, type NetworkClientOptions, type Reply } from '../http-client.ts';
import type { GsmaConfiguration, GsmaNetwork } from './configuration.ts';

/**
 * What a provider may ask for, by its level of security: the client's own key and id, and the access token of a user or, where
 * the provider has no OAuth, the user's encrypted credentials.
 */
export interface GsmaCredentials {
  apiKey: string | null;
  clientId: string | null;
  userBearer: string | null;
  userCredential1: string | null;
  userCredential2: string | null;
}

export interface GsmaPost {
  pool: ConnectionPool;
  path: string;
  reference: string;
  body: Readonly<Record<string, unknown>>;
  /** Null where the provider is polled. */
  callbackUrl: string | null;
}

/** HTTP client of one network at a provider of the API. */
export interface GsmaClient {
  post(request: GsmaPost): Promise<Reply>;
  get(path: string, reference: string): Promise<Reply>;
  /** Without a reference: the state of the API itself. */
  heartbeat(): Promise<Reply>;
  /** Reads something of the account itself, such as its statement. */
  readAccount(path: string): Promise<Reply>;
  close(): Promise<void>;
}

export interface GsmaClientOptions extends NetworkClientOptions {
  configuration: GsmaConfiguration;
  network: GsmaNetwork;
  /** The credentials for a request, by our reference; null for requests about nothing of a merchant's. */
  credentialsFor: (reference: string | null) => GsmaCredentials;
}

export function createGsmaClient(options: GsmaClientOptions): GsmaClient {
  const client = createNetworkClient(options);
  const get = (path: string, reference: string | null) =>
    client.call({ pool: 'look_ups', method: 'GET', path, headers: commonHeaders(options, reference) });
  return {
    post: ({ pool, path, reference, body, callbackUrl }) => {
      const text = JSON.stringify(body);
      const headers = {
        ...commonHeaders(options, reference),
        'x-correlationid': correlationId(reference),
        ...(callbackUrl === null ? {} : { 'x-callback-url': callbackUrl }),
        ...(options.configuration.contentHash ? { 'x-content-hash': contentHash(text) } : {}),
      };
      return client.call({ pool, method: 'POST', path, headers, body: text });
    },
    get,
    heartbeat: () => get('/heartbeat', null),
    readAccount: (path) => get(path, null),
    close: () => client.close(),
  };
}

/**
 * The key of the idempotency, a UUID. It is derived, so that a repeated request and a look-up after a crash have the same
 * without a row for it.
 */
export function correlationId(reference: string): string {
  return stableUuid('gsma', reference);
}

function contentHash(body: string): string {
  return createHash('sha256').update(body).digest('hex');
}

function commonHeaders(
  { clock, configuration, network, credentialsFor }: GsmaClientOptions,
  reference: string | null,
): Record<string, string> {
  const credentials = credentialsFor(reference);
  const optional: Readonly<Record<string, string | null>> = {
    'x-api-key': credentials.apiKey,
    'x-client-id': credentials.clientId,
    'x-user-bearer': credentials.userBearer,
    'x-user-credential-1': credentials.userCredential1,
    'x-user-credential-2': credentials.userCredential2,
    'x-channel': configuration.channel,
    'x-account-holding-institution-identifier-type': network.institution?.type ?? null,
    'x-account-holding-institution-identifier': network.institution?.identifier ?? null,
  };
  const sent = Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== null);
  return { 'x-date': clock.now().toISOString(), ...Object.fromEntries(sent) };
}
