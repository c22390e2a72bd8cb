import type { Clock } from '../../kit/clock.ts';
import type { Queryable } from '../../kit/db.ts';
import type { Channel } from '../channel.ts';
import { insertChatMessage } from '../queries.ts';

interface DevelopmentChannelOptions {
  db: Queryable;
  clock: Clock;
  newId: () => string;
  /** False on a production server, which has no page that shows them: nothing is kept that nobody can see. */
  keepsMessages: boolean;
}

/** The channel of the test environment: what it takes is shown at `/simulator/chat/{number}`. */
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
