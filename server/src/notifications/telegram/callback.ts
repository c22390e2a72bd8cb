import { numberOrNull, parseInternationalNumber } from '../../kit/phone-number.ts';
import { isSameText } from '../../kit/same-text.ts';
import { parseJson } from '../channel.ts';

/** What a person did in their chat with the bot. */
export type ChatUpdate =
  /** Sharing one's own number proves that it is theirs. */
  | { kind: 'shared_own_number'; chatId: string; number: string }
  /** A number of somebody else, or one that is not usable. */
  | { kind: 'shared_another'; chatId: string }
  | { kind: 'left'; chatId: string }
  | { kind: 'said_something'; chatId: string };

/** Whether a callback comes from Telegram: it carries the secret that was configured for callbacks. */
export function isFromTelegram(webhookSecret: string, header: unknown): boolean {
  return webhookSecret !== '' && typeof header === 'string' && isSameText(header, webhookSecret);
}

/** Null for anything but a message in a private chat: groups have no number. */
export function readUpdate(body: Uint8Array): ChatUpdate | null {
  const message = (parseJson(Buffer.from(body).toString()) as { message?: WireMessage } | null)?.message;
  const chatId = message?.chat?.id;
  if (typeof chatId !== 'number' || message?.chat?.type !== 'private') return null;
  const chat = { chatId: String(chatId) };
  const { contact, text } = message;
  if (contact) {
    const senderId = message.from?.id;
    const isOwn = typeof senderId === 'number' && contact.user_id === senderId;
    const number = isOwn ? canonicalNumber(contact.phone_number) : null;
    return number === null ? { kind: 'shared_another', ...chat } : { kind: 'shared_own_number', ...chat, number };
  }
  return { kind: text === '/stop' ? 'left' : 'said_something', ...chat };
}

/** The bot's reply, as the response to Telegram's callback: it names a method, so no request has to be sent. */
export function replyTo(update: ChatUpdate) {
  const reply = { method: 'sendMessage', chat_id: Number(update.chatId) };
  switch (update.kind) {
    case 'shared_own_number':
      return {
        ...reply,
        text: 'Thank you. A message comes here for each payment at counters that list your number. Send /stop to end it.',
        reply_markup: { remove_keyboard: true },
      };
    case 'left':
      return { ...reply, text: 'No more messages come here.', reply_markup: { remove_keyboard: true } };
    case 'shared_another':
    case 'said_something':
      return {
        ...reply,
        text: 'To get a message for each payment at your counter, share your own number with the button below.',
        reply_markup: {
          keyboard: [[{ text: 'Share my number', request_contact: true }]],
          resize_keyboard: true,
          one_time_keyboard: true,
        },
      };
  }
}

interface WireMessage {
  chat?: { id?: unknown; type?: unknown };
  from?: { id?: unknown };
  contact?: { phone_number?: unknown; user_id?: unknown };
  text?: unknown;
}

/** Telegram sends the country code with or without a plus. */
function canonicalNumber(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  return numberOrNull(() => parseInternationalNumber(text.startsWith('+') ? text : `+${text}`, { strict: false }));
}
