import type { Queryable } from '../../kit/db.ts';
import { listChatMessageRows } from '../queries.ts';
import type { ChatMessage } from '../notice.ts';

// More than fit on a phone's screen by far.
const shownMax = 50;

/** The newest messages to a number (E.164), oldest first, as a chat shows them. */
export async function listChatMessages(db: Queryable, number: string): Promise<ChatMessage[]> {
  return (await listChatMessageRows(db, number, shownMax)).toReversed();
}
