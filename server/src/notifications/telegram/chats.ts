import type { Clock } from '../../kit/clock.ts';
import type { Database } from '../../kit/db.ts';
import { clearNumberStop, deleteChat, deleteChatsOf, findChatId, upsertChat, updateChatId } from '../queries.ts';

/** Which chat is whose. */
export interface TelegramChats {
  find(number: string): Promise<string | undefined>;
  /** From here on messages to the number go to this chat. One person has one number here: the newest. */
  link(link: ChatLink): Promise<void>;
  /** Only where the number still has this chat: it may have been linked anew meanwhile. */
  unlink(link: ChatLink): Promise<void>;
  /** The person said so. */
  unlinkChat(chatId: string): Promise<void>;
  move(link: ChatLink, chatId: string): Promise<void>;
}

export interface ChatLink {
  /** E.164. */
  number: string;
  chatId: string;
}

export function createTelegramChats({ db, clock }: { db: Database; clock: Clock }): TelegramChats {
  return {
    find: (number) => findChatId(db, number),
    link: (link) =>
      db.withTransaction(async (tx) => {
        tx.send(deleteChatsOf(link.chatId));
        tx.send(upsertChat(link, clock.now()));
        tx.send(clearNumberStop({ channel: 'telegram', number: link.number }));
      }),
    unlink: async (link) => {
      await db.run(deleteChat(link));
    },
    unlinkChat: async (chatId) => {
      await db.run(deleteChatsOf(chatId));
    },
    move: async (link, chatId) => {
      await db.run(updateChatId(link, chatId));
    },
  };
}
