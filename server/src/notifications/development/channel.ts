import type { Clock } from '../../kit/clock.ts';
import type { Queryable } from '../../kit/db.ts';
import type { Channel } from '../channel.ts';
import type { ChatMessage } from '../notice.ts';
import { insertChatMessage, listChatMessageRows } from '../queries.ts';

interface DevelopmentChannelOptions {
  db: Queryable;
  clock: Clock;
  newId: () => string;
  /** False on a production server, which has no page that shows the messages. */
  keepsMessages: boolean;
}

/** The channel of the test environment: `/simulator/chat/{number}` shows its messages. */
export function createDevelopmentChannel(options: DevelopmentChannelOptions): Channel {
  const { db, clock, newId, keepsMessages } = options;
  return {
    name: 'development',
    reaches: () => Promise.resolve(true),
    send: async ({ number, message }) => {
      const id = newId();
      if (keepsMessages) await db.run(insertChatMessage({ number, id, body: message, createdAt: clock.now() }));
      return { state: 'accepted', messageId: id, recipient: null };
    },
  };
}

// Far more than fit on a phone's screen.
const shownMax = 50;

/** The newest messages to a number (E.164), oldest first, as a chat shows them. */
export async function listChatMessages(db: Queryable, number: string): Promise<ChatMessage[]> {
  return (await listChatMessageRows(db, number, shownMax)).toReversed();
}
