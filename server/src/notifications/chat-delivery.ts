import type { ChatDelivery, ChatDeliveryReader } from '../terminals/terminal.ts';
import { listNewestNotices } from './queries.ts';

/** The status of the newest message to each number of each terminal, for the terminals' records. */
export const readChatDelivery: ChatDeliveryReader = async (db, merchantId, terminalIds) => {
  const byTerminal = new Map<string, Map<string, ChatDelivery>>();
  if (terminalIds.length === 0) return byTerminal;
  for (const { terminalId, number, ...newest } of await listNewestNotices(db, merchantId, terminalIds)) {
    const byNumber = byTerminal.get(terminalId) ?? new Map<string, ChatDelivery>();
    byTerminal.set(terminalId, byNumber.set(number, newest));
  }
  return byTerminal;
};
