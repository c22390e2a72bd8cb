import { listCasesOfSubject } from '../cases/list-cases.ts';
import { claimWork, completeWork, completeWorkWith, postponeWork } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { assert } from '../kit/assert.ts';
import type { WatchCall } from '../kit/adaptive-concurrency.ts';
import { BoundedMap } from '../kit/bounded-map.ts';
import { addMs } from '../kit/clock.ts';
import type { Transaction } from '../kit/db.ts';
import { KeyedRunner } from '../kit/keyed-runner.ts';
import type { PayoutBatchResponse } from '../networks/contract.ts';
import { reportPayout } from '../networks/payout-breakers.ts';
import { newReference } from '../networks/reference.ts';
import { returnToQueue } from './apply-response.ts';
import type { TransferContext } from './context.ts';
import { findTransferById, findTransfersById, listTransfersOfBatch } from './queries.ts';
import { railOf, type Rail, type RailBatch } from './rail.ts';
import {
  callNetwork,
  canSend,
  isPermitted,
  isUnchanged,
  lookUpSoon,
  noteUnclear,
  outcomeOf,
  sendTransfer,
  submit,
  type DueTransfer,
} from './send-transfer.ts';
import { noteTransfer } from './timeline.ts';
import { changeTransfer, withLockedTransfers } from './transfer-change.ts';
import type { LockedTransfer, Transfer } from './transfer.ts';

// As many accounts of merchants as calls of a queue may be under way.
const accountsMax = 512;
// Longer than it takes to send what was claimed, as for all work.
const leaseMs = 60_000;
// After a batch was refused as a whole: long enough for the transfer that was the reason to be refused alone.
const aloneForMs = 60_000;

/**
 * Sends transfers. Where their account pays out in batches, the transfers of a merchant that become due while a call of that account
 * is under way go together with the next; one that is due alone goes alone, at once.
 */
export function createSender(context: TransferContext): (work: Work, watch?: WatchCall) => Promise<void> {
  const waiting = new Map<string, Waiting[]>();
  const aloneUntil = new BoundedMap<string, Date>(accountsMax);
  const runner = new KeyedRunner(async (account) => {
    const isRefused = await sendTogether(context, waiting.get(account) ?? []);
    if (isRefused) aloneUntil.set(account, addMs(context.clock.now(), aloneForMs));
    if (waiting.get(account)?.length === 0) waiting.delete(account);
  }, accountsMax);
  return async (work, watch = (send) => send()) => {
    const transfer = await findTransferById(context.db, work.merchantId, work.subjectId);
    if (!transfer || transfer.status !== 'pending') return completeWork(context.db, work);
    const due = { work, transfer, rail: await railOf(context, transfer) };
    if (transfer.batchReference !== null) return sendBatchAgain(context, due);
    const account = accountOf(transfer);
    const goesAlone = !isBatchable(due) || (aloneUntil.get(account) ?? 0) > context.clock.now();
    if (goesAlone) return sendTransfer(context, due, watch);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const each = { due, resolve, reject };
    const others = waiting.get(account);
    if (others) others.push(each);
    else waiting.set(account, [each]);
    runner.schedule(account);
    // Waiting for the batch under way is waiting for the network.
    await watch(
      () => promise,
      () => true,
    );
  };
}

/** A transfer whose worker waits for the batch. */
interface Waiting {
  due: DueTransfer;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Sends all that wait, and what else is due for their account. Empties the list. Returns whether the network refused a batch of them as
 * a whole.
 */
async function sendTogether(context: TransferContext, waiting: Waiting[]): Promise<boolean> {
  const [first] = waiting;
  if (!first) return false;
  let received: Waiting[] = [first];
  try {
    const isFirstPermitted = await isPermitted(context, first.due);
    // Those that a worker claimed together with the first arrive while this is read.
    const claimed = isFirstPermitted ? await claimMore(context, first.due) : [];
    received = waiting.splice(0);
    const others = [...received.slice(1).map(({ due }) => due), ...claimed];
    const permitted = [...(isFirstPermitted ? [first.due] : []), ...(await onlyPermitted(context, others))];
    const isRefused = await sendInBatches(context, permitted, transfersMax(first.due));
    for (const { resolve } of received) resolve();
    return isRefused;
  } catch (error) {
    waiting.splice(0, waiting[0] === first ? 1 : 0);
    for (const { reject } of received) reject(error);
    return false;
  }
}

async function sendInBatches(context: TransferContext, dues: readonly DueTransfer[], max: number): Promise<boolean> {
  let isRefused = false;
  for (let start = 0; start < dues.length; start += max) {
    if (await sendMembers(context, dues.slice(start, start + max))) isRefused = true;
  }
  return isRefused;
}

function accountOf({ merchantId, network, railAccount }: Transfer): string {
  return `${merchantId}/${network}/${railAccount ?? ''}`;
}

/** One that was sent alone before is sent again alone: under its own reference the network pays it once. */
function isBatchable({ transfer, rail }: DueTransfer): boolean {
  return transfer.status === 'pending' && transfer.sends === 0n && transfersMax({ rail }) > 1;
}

function transfersMax({ rail }: Pick<DueTransfer, 'rail'>): number {
  return rail.batch?.transfersMax ?? 1;
}

async function onlyPermitted(context: TransferContext, dues: readonly DueTransfer[]): Promise<DueTransfer[]> {
  const permitted: DueTransfer[] = [];
  for (const due of dues) if (await isPermitted(context, due)) permitted.push(due);
  return permitted;
}

/** A worker claims fewer tasks at once than a batch takes: the rest of what is due for the same account. */
async function claimMore(context: TransferContext, first: DueTransfer): Promise<DueTransfer[]> {
  const { db, clock } = context;
  const { merchantId, queue } = first.work;
  const now = clock.now();
  const works = await claimWork(db, {
    merchantId,
    queue,
    now,
    leaseEndsAt: addMs(now, leaseMs),
    rowsMax: transfersMax(first) - 1,
  });
  const ids = works.map(({ subjectId }) => subjectId);
  const found = new Map((await findTransfersById(db, merchantId, ids)).map((transfer) => [transfer.id, transfer]));
  const more: DueTransfer[] = [];
  for (const work of works) {
    const transfer = found.get(work.subjectId);
    const due = transfer && { work, transfer, rail: await railOf(context, transfer) };
    if (due && isBatchable(due) && accountOf(due.transfer) === accountOf(first.transfer)) more.push(due);
    else await postponeWork(db, work, now);
  }
  return more;
}

/** A transfer that is marked as submitted. */
interface Member {
  rail: Rail;
  transfer: Transfer;
}

/** Returns whether the network refused them as a whole. */
async function sendMembers(context: TransferContext, dues: readonly DueTransfer[]): Promise<boolean> {
  const members = await markSubmitted(context, dues);
  const [first, second] = members;
  if (!first) return false;
  if (!second) {
    await callNetwork(context, first.rail, first.transfer);
    return false;
  }
  const requests = members.map(({ rail }) => batchOf(rail).request);
  const reference = first.transfer.batchReference ?? '';
  const response = await batchOf(first.rail).start({ reference, payouts: requests });
  await applyBatchResponse(context, members, response);
  return response.state === 'refused';
}

/**
 * As for a transfer that goes alone: written before the call, in one transaction. One that was cancelled or sent meanwhile is left
 * out; if one remains, it goes alone.
 */
async function markSubmitted(context: TransferContext, dues: readonly DueTransfer[]): Promise<Member[]> {
  const [first] = dues;
  if (!first) return [];
  const { merchantId } = first.transfer;
  const byId = new Map(dues.map((due) => [due.transfer.id, due]));
  return withLockedTransfers(context, { merchantId, ids: [...byId.keys()] }, async (tx, locked) => {
    for (const { work } of dues) completeWorkWith(tx, work);
    const now = context.clock.now();
    const open = locked.flatMap((each) => {
      const due = byId.get(each.transfer.id);
      const isOpen = due && isUnchanged(each.transfer, due.transfer) && canSend(now, due.rail, each.transfer);
      return isOpen ? [{ locked: each, rail: due.rail }] : [];
    });
    const merchant = locked[0]?.merchant;
    const batchReference = merchant && open.length > 1 ? newReference(context.random, merchant) : null;
    const members: Member[] = [];
    for (const { rail, locked: each } of open) {
      members.push({ rail, transfer: await submit(tx, context, rail, { locked: each, batchReference }) });
    }
    return members;
  });
}

/**
 * No response has shown that the network took the batch, and no look-up found this transfer of it. The same transfers are sent in the
 * same order under the batch's reference, for which the network pays each once, also those that have ended meanwhile.
 */
async function sendBatchAgain(context: TransferContext, due: DueTransfer): Promise<void> {
  const { work, transfer: seen, rail } = due;
  const { merchantId, batchReference: reference } = seen;
  assert(reference !== null, 'the transfer was sent in a batch');
  // Each of its transfers asks for it.
  if (!canSend(context.clock.now(), rail, seen)) return completeWork(context.db, work);
  if (!(await isPermitted(context, due))) return;
  const transfers = await listTransfersOfBatch(context.db, merchantId, reference);
  const rails = new Map<string, Rail>();
  for (const transfer of transfers) rails.set(transfer.id, await railOf(context, transfer));
  const members = await withLockedTransfers(context, { merchantId, ids: [...rails.keys()] }, async (tx, locked) => {
    completeWorkWith(tx, work);
    const current = locked.find(({ transfer }) => transfer.id === seen.id);
    if (!current || !isUnchanged(current.transfer, seen) || (await isPartReleased(tx, locked))) return [];
    const again: Member[] = [];
    for (const each of locked.filter(({ transfer }) => isOpenMember(transfer, seen))) {
      const railOfEach = rails.get(each.transfer.id) ?? rail;
      const sent = await submit(tx, context, railOfEach, { locked: each, batchReference: reference });
      again.push({ rail: railOfEach, transfer: sent });
    }
    return again;
  });
  if (members.length === 0) return;
  const requests = [...rails.values()].map((each) => batchOf(each).request);
  await applyBatchResponse(context, members, await batchOf(rail).start({ reference, payouts: requests }));
}

/**
 * Whether people have decided of one that it was not paid. Sent again, the batch would pay it; without it, it is another batch. The
 * others are looked up further. Under the locks, for which a decision that is being made waits.
 */
async function isPartReleased(tx: Transaction, members: readonly LockedTransfer[]): Promise<boolean> {
  for (const { transfer } of members) {
    const { merchantId, id, status } = transfer;
    const cases = status === 'failed' ? await listCasesOfSubject(tx, merchantId, id) : [];
    if (cases.some(({ resolution }) => resolution === 'not_paid')) return true;
  }
  return false;
}

function batchOf({ batch }: Rail): RailBatch {
  assert(batch, 'a connector that takes batches goes on taking them');
  return batch;
}

/** Whether nothing is known of it since the batch was sent. */
function isOpenMember(
  { status, progress, networkReference, batchReference }: Transfer,
  { batchReference: reference }: Transfer,
): boolean {
  return status === 'pending' && progress === 'submitted' && networkReference === null && batchReference === reference;
}

/** In one transaction: a batch that the network has is never sent again, in whole or in part. */
async function applyBatchResponse(
  context: TransferContext,
  members: readonly Member[],
  response: PayoutBatchResponse,
): Promise<void> {
  for (const { rail } of members) {
    if (rail.breakers) await reportPayout(context, rail.breakers, outcomeOf(response));
  }
  const byId = new Map(members.map((member) => [member.transfer.id, member]));
  const merchantId = members[0]?.transfer.merchantId ?? '';
  await withLockedTransfers(context, { merchantId, ids: [...byId.keys()] }, async (tx, locked) => {
    for (const each of locked) {
      const member = byId.get(each.transfer.id);
      if (!member || !isOpenMember(each.transfer, member.transfer)) continue;
      await applyToMember(tx, context, { locked: each, member, response });
    }
  });
}

async function applyToMember(
  tx: Transaction,
  context: TransferContext,
  {
    locked,
    member: { rail, transfer: sent },
    response,
  }: {
    locked: LockedTransfer;
    member: Member;
    response: PayoutBatchResponse;
  },
): Promise<void> {
  switch (response.state) {
    case 'accepted': {
      const { networkReference, handles: networkHandles } = response;
      noteTransfer(tx, context, locked.transfer, 'accepted_by_network', 'The network has accepted it and is paying.');
      await changeTransfer(tx, context, locked, { networkReference, networkHandles });
      return lookUpSoon(tx, context, rail, locked);
    }
    case 'unknown':
      return noteUnclear(tx, context, rail, { locked, detail: response.detail });
    case 'refused':
    case 'not_accepted': {
      // It proves nothing about an earlier call whose response was lost.
      if (locked.transfer.sends !== 1n || sent.sends !== 1n) return;
      const reason = response.state === 'refused' ? null : response.reason;
      await returnToQueue(tx, context, locked, { reason, delayMs: 0 });
    }
  }
}
