import { createHash } from 'node:crypto';
import { randomBase62 } from '../../server/src/kit/base62.ts';
import { addMs } from '../../server/src/kit/clock.ts';
import type { Transaction } from '../../server/src/kit/db.ts';
import type { SimulatorContext } from '../context.ts';
import { randomIdLength } from '../record-id.ts';
import type { MoneyRequest } from '../start-request.ts';
import { batchMs, type StoredBatch } from './payout-batch.ts';
import type { PayoutRequest } from './payout-request.ts';
import {
  outageMs,
  payoutScenarioOf,
  planPayout,
  type PayoutScenario,
  type PayoutScenarioFields,
} from './payout-scenarios.ts';
import { findBatchByReference, findFloat, insertBatchOnce, insertEmptyFloat, insertPayout } from './queries.ts';
import { fingerprint, newPayout } from './start-payout.ts';

/** A parsed request to pay out to several at once. */
export interface BatchRequest extends Pick<MoneyRequest, 'network' | 'account' | 'reference'> {
  /** Their references come from `payoutReference`. */
  payouts: readonly PayoutRequest[];
}

export type BatchStart =
  | { kind: 'batch'; batch: StoredBatch }
  /** Taken, but the caller gets no response. */
  | { kind: 'silent' }
  /** The reference belongs to another request. */
  | { kind: 'conflict' };

/** Takes a batch whole, or returns the one that the same request started before. Its payouts are carried out a little later. */
export function startBatch(context: SimulatorContext, request: BatchRequest): Promise<BatchStart> {
  const { network, account, reference, payouts } = request;
  const batch: StoredBatch = {
    ...{ account, network: network.id, reference, payoutCount: BigInt(payouts.length) },
    id: account + randomBase62(context.random, randomIdLength),
    fingerprint: createHash('sha256')
      .update(JSON.stringify(payouts.map((payout) => [fingerprint(payout), payout.clientReference])))
      .digest('hex'),
    createdAt: context.clock.now(),
  };
  return context.db.withTransaction(async (tx) => {
    if ((await tx.run(insertBatchOnce(batch))) === 0) {
      const first = await findBatchByReference(tx, batch);
      return first?.fingerprint === batch.fingerprint ? { kind: 'batch', batch: first } : { kind: 'conflict' };
    }
    for (const payout of payouts) await takePayout(tx, context, payout);
    const isSilent = payouts.some(({ beneficiaryNumber }) => payoutScenarioOf(beneficiaryNumber).startsWith('silent'));
    return isSilent ? { kind: 'silent' } : { kind: 'batch', batch };
  });
}

async function takePayout(tx: Transaction, context: SimulatorContext, request: PayoutRequest): Promise<void> {
  const { account, network, beneficiaryNumber } = request;
  const now = context.clock.now();
  const line = { account, network: network.id, beneficiaryNumber };
  const scenario = payoutScenarioOf(beneficiaryNumber);
  const float = (await findFloat(tx, line))?.state ?? (scenario === 'float_empty' ? 'empty' : 'filled');
  if (float === 'empty') tx.send(insertEmptyFloat(line, now));
  const fields = float === 'empty' ? emptyFloat(now) : inBatch(scenario, now);
  tx.send(insertPayout(newPayout(context.random, request, { plan: { fields }, now })));
}

/** Without money each payout of a batch fails for itself; alone it is refused, and not recorded. */
function emptyFloat(now: Date): PayoutScenarioFields {
  const plannedAt = addMs(now, batchMs);
  return { status: 'pending', failureCode: 'float_empty', plannedStatus: 'failed', plannedAt, visibleAt: now };
}

/** What the scenario decides at once is decided when the network comes to it. */
function inBatch(scenario: PayoutScenario, now: Date): PayoutScenarioFields {
  const { fields } = planPayout(scenario, now);
  const { status, plannedStatus } = fields;
  if (status === 'pending' || status === 'reversed' || plannedStatus !== null) return fields;
  const waitMs = scenario === 'network_down' ? outageMs : batchMs;
  return { ...fields, status: 'pending', plannedStatus: status, plannedAt: addMs(now, waitMs) };
}
