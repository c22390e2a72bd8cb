import { parseInternationalNumber, PhoneNumberError } from '../../kit/phone-number.ts';
import { isSameText } from '../../kit/same-text.ts';

/** What somebody did in the chat with the bot. */
export type ChatUpdate =
  /** They shared their own number, which proves that it is theirs. */
  | { kind: 'shared_own_number'; chatId: string; number: string }
  /** They shared somebody else's, or one that cannot be used. */
  | { kind: 'shared_another'; chatId: string }
  | { kind: 'left'; chatId: string }
  | { kind: 'said_something'; chatId: string };

/** Whether a call comes from Telegram: it brings the secret that was set for its calls. */
export function isFromTelegram(webhookSecret: string, header: unknown): boolean {
  return webhookSecret !== '' && typeof header === 'string' && isSameText(header, webhookSecret);
}

/** Null for everything but a message of a person in their own chat with the bot: groups have no number. */
export function readUpdate(body: Uint8Array): ChatUpdate | null {
  const message = (parse(body) as { message?: WireMessage } | null)?.message;
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

/** What the bot says to that, as the answer to Telegram's call: a method of its own, so nothing has to be sent. */
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

/** Telegram writes the country code with or without its plus. */
function canonicalNumber(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    return parseInternationalNumber(text.startsWith('+') ? text : `+${text}`, { strict: false });
  } catch (error) {
    if (error instanceof PhoneNumberError) return null;
    throw error;
  }
}

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return null;
  }
}
