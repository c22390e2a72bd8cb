import { createNetworkClient, type NetworkClientOptions, type Reply } from '../http-client.ts';

export interface PayinClient {
  post(path: string, request: { module: string; reference: string; body: string }): Promise<Reply>;
  get(path: string, reference: string): Promise<Reply>;
  close(): Promise<void>;
}

export interface PayinClientOptions extends NetworkClientOptions {
  /** The merchant's public key at the provider, by our reference. */
  publicKeyFor: (reference: string) => string;
}

/** HTTP client of one account. Its headers identify the business; none of them is a signature. */
export function createPayinClient(options: PayinClientOptions): PayinClient {
  const client = createNetworkClient(options);
  const headersFor = (reference: string) => ({
    'x-business': base64(options.publicKeyFor(reference)),
    'x-app': 'api',
    accept: 'application/json',
  });
  return {
    post: (path, { module, reference, body }) =>
      client.call({
        pool: 'collections',
        method: 'POST',
        path,
        headers: { ...headersFor(reference), 'x-module': base64(module) },
        body,
      }),
    get: (path, reference) => client.call({ pool: 'look_ups', method: 'GET', path, headers: headersFor(reference) }),
    close: () => client.close(),
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
