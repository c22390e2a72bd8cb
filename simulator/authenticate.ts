import { readAuthorization } from './credentials.ts';
import { findSimulatedNetwork } from './network.ts';
import type { SimulatedNetwork } from './network.ts';
import { Refusal } from './refusal.ts';

/** The network that is called and the account that its credential proves. Throws Refusal. */
export function authenticate(
  req: { params: { network: string }; headers: { authorization?: string | undefined } },
  { bearerSecret }: { bearerSecret: string },
): { network: SimulatedNetwork; account: string } {
  const network = findSimulatedNetwork(req.params.network);
  if (!network) throw new Refusal('not_found', 'There is no such network.');
  const account = readAuthorization(req.headers.authorization, { bearerSecret, network: network.id });
  if (account === undefined) throw new Refusal('invalid_credential', 'The credential is missing or not valid.');
  return { network, account };
}
