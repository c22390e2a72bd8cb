import type { Queryable } from '../kit/db.ts';
import type { Caller } from '../kit/route.ts';
import { qrCodeUrl } from './terminal-address.ts';
import type { ChatDelivery, TerminalContext, VirtualTerminal } from './terminal.ts';

/** The record of each of these terminals, in their order, with how messages to their numbers fared. */
export async function terminalsToWire(
  db: Queryable,
  context: TerminalContext,
  caller: Caller,
  terminals: readonly VirtualTerminal[],
) {
  const ids = terminals.map(({ id }) => id);
  const deliveries = await context.chatDelivery(db, caller.merchantId, ids);
  return terminals.map((terminal) => terminalToWire(context, caller, terminal, deliveries.get(terminal.id)));
}

function terminalToWire(
  context: TerminalContext,
  caller: Caller,
  terminal: VirtualTerminal,
  deliveries: ReadonlyMap<string, ChatDelivery> | undefined,
) {
  return {
    id: terminal.id,
    name: terminal.name,
    code: terminal.code,
    qr_code_url: qrCodeUrl(context.settings, terminal),
    poster_url: `${context.settings.publicUrl()}/v1/virtual-terminals/download/${terminal.id}`,
    chat_numbers: terminal.chatNumbers,
    chat_delivery: terminal.chatNumbers.map((number, index) => {
      const newest = deliveries?.get(terminal.chatCanonical[index] ?? '');
      return {
        number,
        status: newest?.status ?? null,
        updatedAt: newest?.updatedAt.toISOString() ?? null,
        failure: newest?.failure ?? null,
      };
    }),
    active: terminal.active,
    test_mode: caller.testMode,
    createdAt: terminal.createdAt.toISOString(),
    updatedAt: terminal.updatedAt.toISOString(),
  };
}
