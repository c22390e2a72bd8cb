import type { Queryable } from '../kit/db.ts';
import { findCodeOwner, findTerminalRow } from './queries.ts';
import type { VirtualTerminal } from './terminal.ts';
import { isTerminalCheck, readTerminalAddress } from './terminal-address.ts';

/** The terminal that a payer scanned or typed. */
export interface FoundTerminal {
  /** May be inactive or deleted (`active`, `deletedAt`): its page says so. */
  terminal: VirtualTerminal;
  /** False without a check: the page first asks the payer to confirm merchant and counter. */
  confirmed: boolean;
}

/** A `GuessLimit` for one client: refuses the look-up after too many wrong guesses. */
type Guess = <Found>(lookUp: () => Promise<Found | undefined>) => Promise<Found | undefined>;

/**
 * Finds a terminal by what was scanned or typed: a code (`123 4567`) or a code with its check (`1234567-7KQ2`). Returns
 * undefined for an unknown code and for a wrong check, so that the two cannot be told apart.
 *
 * A correct check proves a scan and bypasses the limit. Everything else counts as a guess.
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

/** Also finds an inactive or deleted terminal. A code is never reused. */
export async function findTerminalByCode(db: Queryable, code: string): Promise<VirtualTerminal | undefined> {
  const owner = await findCodeOwner(db, code);
  return owner && findTerminalRow(db, owner.merchantId, owner.terminalId);
}
