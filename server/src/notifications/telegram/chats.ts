import type { Clock } from '../../kit/clock.ts';
import type { Database } from '../../kit/db.ts';
import {
  clearNumberStop,
  deleteChat,
  deleteChatsOf,
  findChatId,
  updateChatId,
  upsertChat,
  type ChatLink,
} from '../queries.ts';

/** Which number has which chat. */
export interface TelegramChats {
  find(number: string): Promise<string | undefined>;
  /** Messages to the number go to this chat from now on. A chat has one number: the newest. */
  link(link: ChatLink): Promise<void>;
  /** Only if the number still has this chat: another may have been linked since. */
  unlink(link: ChatLink): Promise<void>;
  /** The person asked for it. */
  unlinkChat(chatId: string): Promise<void>;
  move(link: ChatLink, chatId: string): Promise<void>;
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
