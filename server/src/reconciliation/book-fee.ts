import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { firstMoment } from '../kit/time-or-day.ts';
import type { Movement } from '../ledger/posting.ts';
import { post } from '../ledger/post.ts';
import { compare, isUsualFee, namesFee, ourSides, reportedFeeFlows, type Finding } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import type { Difference } from './difference.ts';
import { loadCompared, type LoadedSubject } from './load-compared.ts';
import type { Run } from './run.ts';
import { describeFinding, endDifference, isDecidedAs, lockDifferencesOf, storeDifference } from './store-difference.ts';

/** The fee of a record that the network reports on its statement only; undefined where the ledger has what it reported. */
function findUnreportedFee({ account }: Pick<Run, 'account'>, loaded: LoadedSubject): Finding | undefined {
  if (account.statements?.hasUnreportedFees !== true) return undefined;
  const { record, movements, lines, differences } = loaded;
  // What a line without a fee has less may be another amount as well.
  if (!lines.some(namesFee)) return undefined;
  if (movements.some(({ isCost, flow }) => isCost && reportedFeeFlows.includes(flow))) return undefined;
  const fee = compare(loaded).find((finding) => finding.class === 'fee');
  if (!fee || !isUsualFee(fee.theirsMinor, ourSides(record, movements).paidMinor)) return undefined;
  return differences.some((stored) => isDecidedAs(stored, fee)) ? undefined : fee;
}

// Each transaction locks its records one by one, and payments of a busy merchant wait for no longer than these take.
const transactionFeesMax = 100;

/**
 * Books what a network kept or charged and reports nowhere else: what the ledger did not know is no difference. Under the record, so
 * that each later run sees it there. Returns the records that had such a fee as they are then, by their ids.
 */
export async function bookUnreportedFees(
  context: ReconciliationContext,
  run: Run,
  compared: readonly LoadedSubject[],
): Promise<Map<string, LoadedSubject>> {
  const subjects = compared.filter((read) => findUnreportedFee(run, read)).map(({ subject }) => subject);
  for (const ofMerchant of Map.groupBy(subjects, ({ merchantId }) => merchantId).values()) {
    for (let start = 0; start < ofMerchant.length; start += transactionFeesMax) {
      const some = ofMerchant.slice(start, start + transactionFeesMax);
      await context.db.withTransaction((tx) => bookFees(tx, context, run, some));
    }
  }
  const booked = await loadCompared(context, run.account.railAccount, subjects, run);
  return new Map(booked.map((loaded) => [loaded.subject.id, loaded]));
}

/** Books the fees of some records of one merchant. */
async function bookFees(
  tx: Transaction,
  context: ReconciliationContext,
  run: Run,
  subjects: readonly LoadedSubject['subject'][],
): Promise<void> {
  const { railAccount } = run.account;
  // Sorted, so that two runs of the account cannot deadlock. Sent together, run one after the other.
  const ids = subjects.map(({ id }) => id).toSorted();
  const locked = await Promise.all(ids.map((id) => lockDifferencesOf(tx, railAccount, id)));
  const stored = locked.flat().filter((each) => each.class === 'fee');
  // Another process may have booked some since they were read.
  for (const loaded of await loadCompared({ db: tx }, railAccount, subjects, run)) {
    const fee = findUnreportedFee(run, loaded);
    const difference = stored.find(({ subjectId }) => subjectId === loaded.subject.id);
    if (fee) await bookFee(tx, context, run, { loaded, fee, stored: difference });
  }
}

async function bookFee(
  tx: Transaction,
  context: ReconciliationContext,
  { account: { railAccount, currency }, day }: Run,
  { loaded, fee, stored }: { loaded: LoadedSubject; fee: Finding; stored: Difference | undefined },
): Promise<void> {
  const { subject, record } = loaded;
  const { merchantId, type, id } = subject;
  const at = context.clock.now();
  const movements = [movementOf(railAccount, fee)];
  await post(tx, context, { merchantId, currency, flow: 'statement_fee', source: { type, id }, movements, at });
  if (stored && stored.state !== 'resolved') return endDifference(tx, context, stored, 'booked');
  // The day lists it by its line, and at the end of the next day the ledger has it. Only days between need a difference.
  if (utcDay(at) <= utcDay(addMs(firstMoment(day), dayMs))) return;
  const summary = describeFinding(record, fee, { railAccount, currency });
  const about = { railAccount, currency, subject, day, finding: fee, summary, opensCase: false };
  await storeDifference(tx, context, stored, { ...about, state: 'resolved', resolution: 'booked' });
}

function movementOf(railAccount: string, { oursMinor, theirsMinor }: Finding): Movement {
  const float = `float:${railAccount}` as const;
  const amountMinor = theirsMinor - oursMinor;
  return amountMinor > 0n
    ? { debit: 'network_costs', credit: float, amountMinor }
    : { debit: float, credit: 'network_costs', amountMinor: -amountMinor };
}
