import type { FastifySchema } from 'fastify';
import { readAuthorization } from './credentials.ts';
import { findSimulatedNetwork } from './network.ts';
import type { SimulatedNetwork } from './network.ts';
import { Refusal } from './refusal.ts';

/** Route options: another service's API is not part of this one's OpenAPI document. */
export const hidden: { schema: FastifySchema & { hide: boolean } } = { schema: { hide: true } };

/** The network in the URL and the account that the credential proves. Throws Refusal. */
export function authenticate(
  req: { params: { network: string }; headers: { authorization?: string | undefined } },
  { bearerSecret }: { bearerSecret: string },
): { network: SimulatedNetwork; account: string } {
  const network = findSimulatedNetwork(req.params.network);
  if (network?.wires.collections !== 'private') throw new Refusal('not_found', 'Network not found.');
  const account = readAuthorization(req.headers.authorization, { bearerSecret, network: network.id });
  if (account === undefined) throw new Refusal('invalid_credential', 'The credential is missing or not valid.');
  return { network, account };
}
