import type { Queryable } from '../kit/db.ts';
import { findCodeOwner, findTerminalRow } from './queries.ts';
import type { VirtualTerminal } from './terminal.ts';
import { isTerminalCheck, readTerminalAddress } from './terminal-address.ts';

/** A terminal that somebody stands at. */
export interface FoundTerminal {
  /** Also one that is off or was deleted (`active`, `deletedAt`): its page says so. */
  terminal: VirtualTerminal;
  /** False where no check was sent: the payer is asked first whether this is the merchant and the counter. */
  confirmed: boolean;
}

/** Does what it is given, unless too many codes were guessed: see `GuessLimit`, here for one client. */
type Guess = <Found>(lookUp: () => Promise<Found | undefined>) => Promise<Found | undefined>;

/**
 * Whose counter an address is: what comes behind `/pos/`, `1234567` or `1234567-7KQ2`. Undefined for a code that nobody
 * has and for a wrong check, which look the same. The merchant is `merchants.byId(terminal.merchantId)`.
 *
 * Whoever has the right check has scanned it, so nothing that others guess keeps them out. Everything else is a guess.
 */
export async function findTerminalByAddress(
  db: Queryable,
  terminalKey: string,
  text: string,
  guess: Guess,
): Promise<FoundTerminal | undefined> {
  const address = readTerminalAddress(text);
  if (address === null) return undefined;
  const { code, check } = address;
  const confirmed = check !== null && isTerminalCheck(terminalKey, { code, check });
  const lookUp = () => findTerminalByCode(db, code);
  const terminal = await (confirmed ? lookUp() : guess(check === null ? lookUp : async () => undefined));
  return terminal && { terminal, confirmed };
}

/** Whose counter a code is, also after it was switched off or deleted; a code never becomes another's. */
export async function findTerminalByCode(db: Queryable, code: string): Promise<VirtualTerminal | undefined> {
  const owner = await findCodeOwner(db, code);
  return owner && findTerminalRow(db, owner.merchantId, owner.terminalId);
}
