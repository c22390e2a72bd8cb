import type { SendResponse } from '../channel.ts';

/**
 * The error codes of WhatsApp's Cloud API, by what to do about them (docs/networks.md, "WhatsApp"). A code that is not here is
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
  // Our request, media, a window that a template does not need, and a wait of a day, after which it is old news.
  { state: 'refused', codes: [100, 131_008, 131_009, 131_047, 131_049, 131_051, 131_052, 131_053] },
];

// Permissions that were not given or taken back.
const permissionCodes = { first: 200, last: 299 };

const reasons = {
  retry: 'WhatsApp takes no message at the moment.',
  refused: 'WhatsApp refused this message.',
  stop_number: 'WhatsApp cannot write to this number.',
  stop_template: 'WhatsApp refuses the message template.',
  stop_channel: 'WhatsApp refuses this account.',
  unknown: 'WhatsApp gave an answer that is not understood.',
} as const;

/** What an error code means, whether it came at once or in a status later. */
export function responseForCode(code: number): Exclude<SendResponse, { state: 'accepted' }> {
  const isPermission = code >= permissionCodes.first && code <= permissionCodes.last;
  const state = isPermission ? 'stop_channel' : groups.find(({ codes }) => codes.includes(code))?.state;
  return state === undefined
    ? { state: 'unknown', reason: `${reasons.unknown} Its code is ${code}.` }
    : { state, reason: `${reasons[state]} Its code is ${code}.` };
}

/** What came of a send. Only an answer with a message's id is a success; a status alone tells nothing for certain. */
export function translateResponse(response: {
  status: number;
  retryAfterMs: number | null;
  text: string;
}): SendResponse {
  const body = parse(response.text) as ResponseBody | null;
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
