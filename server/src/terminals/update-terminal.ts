import type { Transaction } from '../kit/db.ts';
import { notBlank } from '../kit/not-blank.ts';
import type { Caller } from '../kit/route.ts';
import { readChatNumbers } from './chat-numbers.ts';
import { getTerminalForChange } from './find-terminal.ts';
import { updateTerminalRow } from './queries.ts';
import type { TerminalContext, VirtualTerminal } from './terminal.ts';

/** What is left out stays as it is. */
export interface TerminalChange {
  name?: string | undefined;
  chatNumbers?: readonly string[] | undefined;
  active?: boolean | undefined;
}

/**
 * The code and with it the QR code stay: what hangs on the wall goes on working. A change of nothing leaves everything as
 * it is. Throws AppError `not_found`, and `invalid_request` naming the field.
 */
export async function updateTerminal(
  tx: Transaction,
  context: TerminalContext,
  caller: Caller,
  request: { id: string; change: TerminalChange },
): Promise<VirtualTerminal> {
  const { name, chatNumbers, active } = request.change;
  const terminal = await getTerminalForChange(tx, caller.merchantId, request.id);
  if (name === undefined && chatNumbers === undefined && active === undefined) return terminal;
  const changed: VirtualTerminal = {
    ...terminal,
    name: name === undefined ? terminal.name : notBlank(name, 'name'),
    active: active ?? terminal.active,
    ...(chatNumbers === undefined ? {} : readChatNumbers(caller, chatNumbers)),
    updatedAt: context.clock.now(),
  };
  tx.send(updateTerminalRow(changed));
  return changed;
}
