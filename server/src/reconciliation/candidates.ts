import { addMs, dayMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { numberOrNull, parsePhoneNumber } from '../kit/phone-number.ts';
import { listCandidates, listMerchantIds, type Candidate } from './queries/books.ts';
import type { StatementLine } from './statement-line.ts';

const candidatesMax = 5;

/**
 * The payments that a line without a reference may belong to: of its number, in either form, and its amount, begun within a
 * day before. A person decides: somebody else may have paid the same.
 */
export async function findCandidates(
  db: Queryable,
  testMode: boolean,
  { railAccount, counterpartyNumber, grossMinor, netMinor, at }: StatementLine,
): Promise<Candidate[]> {
  const numbers = formsOf(counterpartyNumber);
  if (numbers.length === 0 || netMinor <= 0n) return [];
  const merchants = await listMerchantIds(db, testMode);
  const [from, to] = [addMs(at, -dayMs), addMs(at, dayMs / 24)];
  return listCandidates(db, {
    railAccount,
    merchants,
    numbers,
    amountMinor: grossMinor,
    from,
    to,
    rowsMax: candidatesMax,
  });
}

/** The 9-digit form and the old 7-digit one; none for what is no number of the country. */
function formsOf(number: string | null): string[] {
  if (number === null) return [];
  const gambian = numberOrNull(() => parsePhoneNumber(number, { strict: false }));
  return gambian ? [gambian.canonical, ...gambian.aliases] : [];
}
