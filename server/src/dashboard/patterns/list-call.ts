import type { ApiCall } from '../../http/in-process-api.ts';
import type { Visit } from '../visit.ts';

/** The call of one of the API's lists for a page: the visitor's search and cursor, and the page's own filters. */
export function listCall(
  { caller, requestId }: Visit,
  { term = '', cursor = '' }: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string | number | undefined>>,
): ApiCall {
  const sent = { ...(term.trim() !== '' && { term }), ...(cursor !== '' && { cursor }) };
  return { caller, requestId, query: { ...own, ...sent } };
}
