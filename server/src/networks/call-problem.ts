import type { Reply } from './http-client.ts';

/**
 * What is wrong with an account whose harmless call ended like this, in a sentence for the operator; null where the response
 * shows that address and credential are accepted. `expected` are the statuses that show it.
 */
export function callProblem(reply: Reply, expected: readonly number[]): string | null {
  if (reply.kind === 'not_sent') {
    return `No connection could be made (${reply.detail}). Check the base URL, and whether the network lets this server’s address in.`;
  }
  if (reply.kind === 'lost') {
    return `The call had no usable response (${reply.detail}). Check the base URL, and whether the network is up.`;
  }
  const { status, body } = reply;
  if (status === 401 || status === 403) {
    return `The network refuses the credential (HTTP ${status}). Check the key, its environment, and what it may do.`;
  }
  if (status === 429) return 'The network refuses calls because there were too many (HTTP 429). Try again in a minute.';
  if (status >= 500)
    return `The network fails on its side (HTTP ${status}). Try again, and ask the network if it stays.`;
  if (body === undefined) {
    return `What answers is no API: the response (HTTP ${status}) is not JSON. Check the base URL and its path.`;
  }
  if (expected.includes(status)) return null;
  return `The response is not as documented (HTTP ${status}). Check the base URL and its path.`;
}
