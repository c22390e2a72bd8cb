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

export type TelegramChats = ReturnType<typeof createTelegramChats>;

/** Which number has which chat. */
export function createTelegramChats({ db, clock }: { db: Database; clock: Clock }) {
  return {
    find: (number: string) => findChatId(db, number),
    /** Messages to the number go to this chat from now on. A chat has one number: the newest. */
    link: (link: ChatLink) =>
      db.withTransaction(async (tx) => {
        tx.send(deleteChatsOf(link.chatId));
        tx.send(upsertChat(link, clock.now()));
        tx.send(clearNumberStop({ channel: 'telegram', number: link.number }));
      }),
    /** Only if the number still has this chat: another may have been linked since. */
    unlink: async (link: ChatLink) => {
      await db.run(deleteChat(link));
    },
    /** The person asked for it. */
    unlinkChat: async (chatId: string) => {
      await db.run(deleteChatsOf(chatId));
    },
    move: async (link: ChatLink, chatId: string) => {
      await db.run(updateChatId(link, chatId));
    },
  };
}
