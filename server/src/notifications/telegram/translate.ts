import type { SendResponse } from '../channel.ts';

/** What came of a send: an answer in the contract's words, or the chat's new id, at which to try again. */
export type TelegramResponse = SendResponse | { state: 'moved'; chatId: string };

const unreachable = 'This number has left the Telegram bot, or blocked it.';

/**
 * Telegram's answers (docs/networks.md, "Telegram"). 403, and 400 for a chat that is not there, are permanent; 429 holds the whole
 * bot; 401 and 404 mean that there is no such bot.
 */
export function translateResponse(response: { status: number; text: string }): TelegramResponse {
  const body = parse(response.text) as ResponseBody | null;
  if (body?.ok === true) {
    const messageId = body.result?.message_id;
    return typeof messageId === 'number'
      ? { state: 'accepted', messageId: String(messageId), recipient: null }
      : { state: 'unknown', reason: 'Telegram gave an answer that is not understood.' };
  }
  switch (body?.error_code ?? response.status) {
    case 400:
      return translateBadRequest(body);
    case 403:
      return { state: 'stop_number', reason: unreachable };
    case 401:
    case 404:
      return { state: 'stop_channel', reason: 'Telegram refuses the bot’s token.' };
    case 429:
      return tooMany(body);
    default:
      return { state: 'unknown', reason: 'Telegram gave an answer that is not understood.' };
  }
}

interface ResponseBody {
  ok?: unknown;
  error_code?: unknown;
  description?: unknown;
  parameters?: { retry_after?: unknown; migrate_to_chat_id?: unknown };
  result?: { message_id?: unknown };
}

function translateBadRequest(body: ResponseBody | null): TelegramResponse {
  const movedTo = body?.parameters?.migrate_to_chat_id;
  if (typeof movedTo === 'number') return { state: 'moved', chatId: String(movedTo) };
  const description = typeof body?.description === 'string' ? body.description : '';
  if (/chat not found|user is deactivated/i.test(description)) return { state: 'stop_number', reason: unreachable };
  return { state: 'refused', reason: 'Telegram refused this message.' };
}

function tooMany(body: ResponseBody | null): SendResponse {
  const seconds = body?.parameters?.retry_after;
  const response = {
    state: 'retry',
    reason: 'Telegram takes no message at the moment.',
    appliesToChannel: true,
  } as const;
  return typeof seconds === 'number' && seconds >= 0 ? { ...response, afterMs: seconds * 1_000 } : response;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
