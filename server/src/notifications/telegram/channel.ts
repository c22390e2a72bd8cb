import type { OutboundClient } from '../../kit/outbound-http.ts';
import { failureResponse, type Channel, type SendResponse } from '../channel.ts';
import type { TelegramChats } from './chats.ts';
import { translateResponse, type TelegramResponse } from './translate.ts';

/** From the settings `TELEGRAM_…`. */
export interface TelegramSettings {
  /** Without a trailing slash. */
  baseUrl: string;
  botToken: string;
  /** Telegram sends it with every callback. */
  webhookSecret: string;
}

/** A Telegram bot. It writes to chats, never to numbers: only people who have shared their number with it can be reached. */
export function createTelegramChannel(
  settings: TelegramSettings,
  outbound: OutboundClient,
  chats: TelegramChats,
): Channel {
  // The URL contains the token, so it is never logged.
  const url = `${settings.baseUrl}/bot${settings.botToken}/sendMessage`;
  const sendTo = async (chatId: string, text: string): Promise<TelegramResponse> => {
    // No parse_mode, so no part of the text is read as markup; and no link previews.
    const message = { chat_id: chatId, text, link_preview_options: { is_disabled: true } };
    const body = Buffer.from(JSON.stringify(message));
    const headers = { 'content-type': 'application/json' };
    const result = await outbound.post({ url, headers, body, httpsOnly: false });
    if (result.kind === 'failed') return failureResponse(result.failure);
    return translateResponse({ status: result.status, text: result.excerpt });
  };
  return {
    name: 'telegram',
    reaches: async (number) => (await chats.find(number)) !== undefined,
    send: async ({ number, message }): Promise<SendResponse> => {
      const chatId = await chats.find(number);
      if (chatId === undefined) return { state: 'stop_number', reason: 'This number has left the Telegram bot.' };
      const response = await sendTo(chatId, message);
      if (response.state === 'stop_number') await chats.unlink({ number, chatId });
      if (response.state !== 'moved') return response;
      await chats.move({ number, chatId }, response.chatId);
      const retried = await sendTo(response.chatId, message);
      return retried.state === 'moved' ? { state: 'refused', reason: 'Telegram moved this chat twice.' } : retried;
    },
  };
}
