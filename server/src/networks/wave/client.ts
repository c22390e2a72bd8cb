import { createNetworkClient, type ConnectionPool, type NetworkClientOptions, type Reply } from '../http-client.ts';
import { signWave } from './signature.ts';

/** The key of a wallet, and the secret with which its requests are signed; null where the key needs no signature. */
export interface WaveCredentials {
  apiKey: string;
  signingSecret: string | null;
}

export interface WavePost {
  pool: ConnectionPool;
  path: string;
  reference: string | null;
  body?: Readonly<Record<string, unknown>>;
  idempotencyKey?: string;
}

/** HTTP client of one account. */
export interface WaveClient {
  post(request: WavePost): Promise<Reply>;
  get(path: string, reference: string | null): Promise<Reply>;
  close(): Promise<void>;
}

export interface WaveClientOptions extends NetworkClientOptions {
  /** The credentials for a request, by our reference; null for requests about no payment. */
  credentialsFor: (reference: string | null) => WaveCredentials;
  signGets: boolean;
}

export function createWaveClient(options: WaveClientOptions): WaveClient {
  const client = createNetworkClient(options);
  return {
    post: ({ pool, path, reference, body, idempotencyKey }) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const headers = {
        ...headersFor(options, { reference, signed: text }),
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      };
      return client.call({ pool, method: 'POST', path, headers, ...(body === undefined ? {} : { body: text }) });
    },
    get: (path, reference) => {
      const headers = headersFor(options, { reference, signed: options.signGets ? '' : null });
      return client.call({ pool: 'look_ups', method: 'GET', path, headers });
    },
    close: () => client.close(),
  };
}

function headersFor(
  { clock, credentialsFor }: WaveClientOptions,
  { reference, signed }: { reference: string | null; signed: string | null },
): Record<string, string> {
  const { apiKey, signingSecret } = credentialsFor(reference);
  const isSigned = signingSecret !== null && signed !== null;
  return {
    authorization: `Bearer ${apiKey}`,
    ...(isSigned ? { 'wave-signature': signWave(signingSecret, { sentAt: clock.now(), body: signed }) } : {}),
  };
}
