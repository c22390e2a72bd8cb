import { parseJson, type SendResponse } from '../channel.ts';

/**
 * The error codes of WhatsApp's Cloud API, by what follows from them (docs/networks.md, "WhatsApp"). Any other code is
 * `unknown`.
 */
const groups: readonly {
  state: 'retry' | 'refused' | 'stop_number' | 'stop_template' | 'stop_channel';
  codes: number[];
}[] = [
  { state: 'retry', codes: [1, 2, 4, 80_007, 130_429, 131_000, 131_016, 131_048, 131_056, 131_057] },
  { state: 'stop_number', codes: [131_026, 130_472, 130_497] },
  { state: 'stop_template', codes: [132_000, 132_001, 132_005, 132_007, 132_012, 132_015, 132_016] },
  { state: 'stop_channel', codes: [0, 10, 190, 368, 131_031, 131_042] },
  // A fault of our request, media, a window that a template does not need, and a wait of a day, after which a notice is stale.
  { state: 'refused', codes: [100, 131_008, 131_009, 131_047, 131_049, 131_051, 131_052, 131_053] },
];

// Permissions that were not granted, or revoked.
const permissionCodes = { first: 200, last: 299 };

const reasons = {
  retry: 'WhatsApp does not accept messages at the moment.',
  refused: 'WhatsApp refused this message.',
  stop_number: 'WhatsApp cannot write to this number.',
  stop_template: 'WhatsApp refuses the message template.',
  stop_channel: 'WhatsApp refuses this account.',
  unknown: 'WhatsApp sent a response that is not understood.',
} as const;

/** Maps an error code, from the response to a send or from a later status. */
export function responseForCode(code: number): Exclude<SendResponse, { state: 'accepted' }> {
  const isPermission = code >= permissionCodes.first && code <= permissionCodes.last;
  const state = isPermission ? 'stop_channel' : groups.find(({ codes }) => codes.includes(code))?.state;
  return state === undefined
    ? { state: 'unknown', reason: `${reasons.unknown} Its code is ${code}.` }
    : { state, reason: `${reasons[state]} Its code is ${code}.` };
}

/** Maps the response to a send. Only a response with a message id is a success; an HTTP status alone is not. */
export function translateResponse(response: {
  status: number;
  retryAfterMs: number | null;
  text: string;
}): SendResponse {
  const body = parseJson(response.text) as ResponseBody | null;
  const code = body?.error?.code;
  if (typeof code === 'number') return withRetryAfter(responseForCode(code), response.retryAfterMs);
  const messageId = body?.messages?.[0]?.id;
  if (response.status === 200 && typeof messageId === 'string' && messageId !== '') {
    const recipient = body?.contacts?.[0]?.wa_id;
    return { state: 'accepted', messageId, recipient: typeof recipient === 'string' ? recipient : null };
  }
  if (response.status === 429) return withRetryAfter({ state: 'retry', reason: reasons.retry }, response.retryAfterMs);
  return { state: 'unknown', reason: reasons.unknown };
}

interface ResponseBody {
  error?: { code?: unknown };
  messages?: { id?: unknown }[];
  contacts?: { wa_id?: unknown }[];
}

function withRetryAfter(response: SendResponse, afterMs: number | null): SendResponse {
  return response.state === 'retry' && afterMs !== null ? { ...response, afterMs } : response;
}
