import { parseJson, type SendResponse } from '../channel.ts';

/** How a send ended, or the chat's new id, to which the message can be sent again. */
export type TelegramResponse = SendResponse | { state: 'moved'; chatId: string };

const unreachable = 'This number has left the Telegram bot, or blocked it.';
const notUnderstood = { state: 'unknown', reason: 'Telegram sent a response that is not understood.' } as const;

/**
 * Maps Telegram's responses (docs/networks.md, "Telegram"). 403, and 400 for an unknown chat, are permanent; 429 limits the
 * whole bot; 401 and 404 mean that the bot's token is not valid.
 */
export function translateResponse(response: { status: number; text: string }): TelegramResponse {
  const body = parseJson(response.text) as ResponseBody | null;
  if (body?.ok === true) {
    const messageId = body.result?.message_id;
    return typeof messageId === 'number'
      ? { state: 'accepted', messageId: String(messageId), recipient: null }
      : notUnderstood;
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
      return rateLimited(body);
    default:
      return notUnderstood;
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

function rateLimited(body: ResponseBody | null): SendResponse {
  const seconds = body?.parameters?.retry_after;
  const response = {
    state: 'retry',
    reason: 'Telegram does not accept messages at the moment.',
    appliesToChannel: true,
  } as const;
  return typeof seconds === 'number' && seconds >= 0 ? { ...response, afterMs: seconds * 1_000 } : response;
}
