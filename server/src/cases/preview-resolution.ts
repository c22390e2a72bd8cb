import { PublicError } from '../kit/public-error.ts';
import { changesOfTransaction, type BalanceChange } from '../ledger/balances.ts';
import type { Case } from './case.ts';
import type { ResolveContext } from './resolve-case.ts';
import type { ResolutionStep } from './resolution.ts';

/** Ends the transaction that only shows what would happen. */
class PreviewEnd extends Error {
  readonly changes: BalanceChange[];

  constructor(changes: BalanceChange[]) {
    super('a preview is rolled back');
    this.changes = changes;
  }
}

/**
 * What a resolution would book, by carrying it out and rolling it back. Null where it cannot be shown: it needs the network's
 * transaction, which nobody has named yet, or it is not possible now.
 */
export async function previewResolution(
  { db, clock, newId, resolvers }: ResolveContext,
  found: Case,
  resolution: string,
): Promise<BalanceChange[] | null> {
  const resolver = resolvers.find(
    (each) => each.subjectType === found.subjectType && each.kind === found.kind && each.resolution === resolution,
  );
  if (!resolver || resolver.needsMoney || (await resolver.refusal(found)) !== null) return null;
  const { merchantId, id: caseId, currency } = found;
  const [sinceId, id] = [newId(), newId()];
  const proposal: ResolutionStep = {
    ...{ merchantId, caseId, id, step: 'proposed', proposalId: id, resolution, operatorId: id },
    ...{ evidence: null, transactionId: null, amountMinor: null, createdAt: clock.now() },
  };
  try {
    const carryOut = await resolver.prepare(found, null);
    return await db.withTransaction(async (tx) => {
      await carryOut(tx, { found, proposal, operatorId: id });
      throw new PreviewEnd(await changesOfTransaction(tx, { merchantId, currency, sinceId }));
    });
  } catch (error) {
    if (error instanceof PreviewEnd) return error.changes;
    if (error instanceof PublicError && error.statusCode < 500) return null;
    throw error;
  }
}
