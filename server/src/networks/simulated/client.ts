import { createNetworkClient } from '../http-client.ts';
import type { NetworkClientOptions, Reply } from '../http-client.ts';
import { accountCredential } from '../../../../simulator/credentials.ts';

export interface SimulatedCall {
  /** The merchant's account at the network. */
  account: string;
  method: 'GET' | 'POST';
  /** Below the network's base address: `/collections…`, `/payouts…` or `/refunds…`. */
  path: string;
  body?: Readonly<Record<string, unknown>>;
}

/** HTTP client of one simulated network. */
export interface SimulatedClient {
  call(call: SimulatedCall): Promise<Reply>;
  close(): Promise<void>;
}

export function createSimulatedClient(
  options: NetworkClientOptions & { network: string; bearerSecret: string },
): SimulatedClient {
  const { network, bearerSecret, baseUrl } = options;
  const client = createNetworkClient({ ...options, baseUrl: () => `${baseUrl()}/simulator/networks/${network}` });
  return {
    call: ({ account, method, path, body }) =>
      client.call({
        pool: poolOf({ method, path }),
        method,
        path,
        headers: { authorization: `Bearer ${accountCredential(bearerSecret, { network, account })}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    close: () => client.close(),
  };
}

function poolOf({ method, path }: Pick<SimulatedCall, 'method' | 'path'>): 'collections' | 'payouts' | 'look_ups' {
  if (method === 'GET') return 'look_ups';
  return path.startsWith('/collections') ? 'collections' : 'payouts';
}
