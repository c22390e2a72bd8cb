import { addMs, dayMs, utcDay } from '../kit/clock.ts';
import { firstMoment } from '../kit/time-or-day.ts';
import type { Movement } from '../ledger/posting.ts';
import { post } from '../ledger/post.ts';
import { compare, isUsualFee, namesFee, ourSides, reportedFeeFlows, type Finding } from './compare.ts';
import type { ReconciliationContext } from './context.ts';
import { loadCompared, type LoadedSubject } from './load-compared.ts';
import type { Run } from './run.ts';
import { describeFinding, endDifference, isDecidedAs, lockDifferencesOf, storeDifference } from './store-difference.ts';

/** The fee of a record that the network reports on its statement only; undefined where the ledger has what it reported. */
export function findUnreportedFee({ account }: Pick<Run, 'account'>, loaded: LoadedSubject): Finding | undefined {
  if (account.statements?.hasUnreportedFees !== true) return undefined;
  const { record, movements, lines, differences } = loaded;
  // What a line without a fee has less may be another amount as well.
  if (!lines.some(namesFee)) return undefined;
  if (movements.some(({ isCost, flow }) => isCost && reportedFeeFlows.includes(flow))) return undefined;
  const fee = compare(loaded).find((finding) => finding.class === 'fee');
  if (!fee || !isUsualFee(fee.theirsMinor, ourSides(record, movements).paidMinor)) return undefined;
  return differences.some((stored) => isDecidedAs(stored, fee)) ? undefined : fee;
}

/**
 * Books what a network kept or charged and reports nowhere else: what the ledger did not know is no difference. Under the record, so
 * that each later run sees it there. Returns the record as it is then.
 */
export async function bookUnreportedFee(
  context: ReconciliationContext,
  run: Run,
  subject: LoadedSubject['subject'],
): Promise<LoadedSubject | undefined> {
  const { railAccount, currency } = run.account;
  const { merchantId, type, id } = subject;
  const load = async (db: Parameters<typeof loadCompared>[0]['db']) =>
    (await loadCompared({ db }, railAccount, [subject], run))[0];
  await context.db.withTransaction(async (tx) => {
    const differences = await lockDifferencesOf(tx, railAccount, id);
    // Another process may have booked it since it was read.
    const loaded = await load(tx);
    const fee = loaded && findUnreportedFee(run, loaded);
    if (!fee) return;
    const at = context.clock.now();
    const movements = [movementOf(railAccount, fee)];
    await post(tx, context, { merchantId, currency, flow: 'statement_fee', source: { type, id }, movements, at });
    const stored = differences.find((each) => each.class === 'fee');
    if (stored && stored.state !== 'resolved') return endDifference(tx, context, stored, 'booked');
    // The day lists it by its line, and at the end of the next day the ledger has it. Only days between need a difference.
    if (utcDay(at) <= utcDay(addMs(firstMoment(run.day), dayMs))) return;
    const summary = describeFinding(loaded.record, fee, { railAccount, currency });
    const about = { railAccount, currency, subject, day: run.day, finding: fee, summary, opensCase: false };
    await storeDifference(tx, context, stored, { ...about, state: 'resolved', resolution: 'booked' });
  });
  return load(context.db);
}

function movementOf(railAccount: string, { oursMinor, theirsMinor }: Finding): Movement {
  const float = `float:${railAccount}` as const;
  const amountMinor = theirsMinor - oursMinor;
  return amountMinor > 0n
    ? { debit: 'network_costs', credit: float, amountMinor }
    : { debit: float, credit: 'network_costs', amountMinor: -amountMinor };
}
