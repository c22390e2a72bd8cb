import { addMs, dayMs, hourMs } from '../kit/clock.ts';
import type { Queryable } from '../kit/db.ts';
import { firstIdAt } from '../kit/ids.ts';
import { receiptsKind } from '../networks/receipts/kind.ts';
import { countBalanceGaps, listPhones } from './queries.ts';
import type { ReceiptPhone } from './receipt.ts';

/** How a shop's phone does, for whoever watches it. */
export interface PhoneStatus {
  railAccount: string;
  phone: ReceiptPhone | undefined;
  /** Why nobody can count on it, and since when; null where somebody can. */
  silence: { since: Date; reason: string } | null;
  /** Messages of the last two days whose balance shows that one before it is missing. */
  gaps: bigint;
}

// What sends signs of life does so every few minutes; what sends none is seen when somebody pays, on most days.
const silentAfterMs = { pinging: 2 * hourMs, quiet: 26 * hourMs };
// Whoever has just connected an account is setting up its phone.
const setUpMs = hourMs;
const gapsWithinMs = 2 * dayMs;

/** The phones of those of these accounts that wait for messages and take new payments. */
export async function readPhoneStatuses(
  db: Queryable,
  accounts: readonly { name: string; kind: string; disabledAt: Date | null; createdAt: Date }[],
  now: Date,
): Promise<PhoneStatus[]> {
  const waiting = accounts.filter(({ kind, disabledAt }) => kind === receiptsKind.name && disabledAt === null);
  if (waiting.length === 0) return [];
  const names = waiting.map(({ name }) => name);
  const phones = await listPhones(db, names);
  const gaps = await countBalanceGaps(db, phones, firstIdAt(addMs(now, -gapsWithinMs)));
  return waiting.map(({ name: railAccount, createdAt }) => {
    const phone = phones.find((each) => each.railAccount === railAccount);
    const ownGaps = gaps.find((each) => each.railAccount === railAccount);
    return { railAccount, phone, silence: silenceOf(phone, createdAt, now), gaps: ownGaps?.count ?? 0n };
  });
}

function silenceOf(phone: ReceiptPhone | undefined, createdAt: Date, now: Date): PhoneStatus['silence'] {
  if (!phone) {
    const isNew = now.getTime() - createdAt.getTime() <= setUpMs;
    return isNew ? null : { since: createdAt, reason: 'Its phone has never forwarded anything.' };
  }
  const { seenAt, pingedAt } = phone;
  const isSilent = now.getTime() - seenAt.getTime() > (pingedAt ? silentAfterMs.pinging : silentAfterMs.quiet);
  const reason = 'Its phone forwards nothing: it may be off, without a network, or its application was stopped.';
  return isSilent ? { since: seenAt, reason } : null;
}

/** What needs a person, each since when and in a sentence. */
export function phoneProblems({ silence, phone, gaps }: PhoneStatus): { since: Date; reason: string }[] {
  const lastAt = phone?.messageAt ?? phone?.seenAt;
  const messages = gaps === 1n ? 'a message' : `${gaps} messages`;
  const reason = `The balances in its messages show that ${messages} of the last two days did not arrive.`;
  return [...(silence ? [silence] : []), ...(gaps > 0n && lastAt ? [{ since: lastAt, reason }] : [])];
}
