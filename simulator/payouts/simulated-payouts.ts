import { addMs } from '../../server/src/kit/clock.ts';
import type { Alongside, SimulatorContext } from '../context.ts';
import { canonicalNumber, type PhoneLine, type PhoneQuery } from '../phone-line.ts';
import { isAccount, recordKey, type ReferenceKey, type TransactionKey } from '../record-id.ts';
import { arrivalOf, phoneFloatOf, type Arrival, type PhoneFloat } from './arrival.ts';
import { payoutAt, type Payout } from './payout.ts';
import type { PayoutRequest } from './payout-request.ts';
import {
  findBatchById,
  findPayoutById,
  findPayoutByTransaction,
  listFloatsByNumber,
  listPayoutsByClientReference,
  listPayoutsByNumber,
  listPayoutsByReferences,
  upsertFloat,
  type FloatState,
  type PayoutLine,
} from './queries.ts';
import { batchMs, payoutReference, type StoredBatch } from './payout-batch.ts';
import { startBatch, type BatchRequest, type BatchStart } from './start-batch.ts';
import { startPayout, type PayoutStart } from './start-payout.ts';

/** The payouts of the simulated networks. */
export interface SimulatedPayouts {
  /** The networks' API, for the payout routes. Payouts are returned in their current state. */
  start(request: PayoutRequest, alongside?: Alongside<Payout>): Promise<PayoutStart>;
  /** Takes several payouts by one call. */
  startBatch(request: BatchRequest): Promise<BatchStart>;
  /** A batch with what the network shows of its payouts by now, in their order. */
  findBatch(key: PayoutAddress): Promise<Batch | undefined>;
  /** By the client's own name of a payout, which several can have. */
  search(key: ReferenceKey): Promise<Payout[]>;
  find(key: PayoutAddress): Promise<Payout | undefined>;
  /** A payout or a refund. */
  findPayoutOrRefund(key: PayoutAddress): Promise<Payout | undefined>;
  /** A payout or a refund, by the id of the money that it moved. */
  findByTransaction(key: TransactionKey): Promise<Payout | undefined>;

  /** Money that has arrived for a number, newest first. Throws PhoneNumberError. */
  listArrivals(query: PhoneQuery): Promise<Arrival[]>;
  /** The floats of a number that have been empty before, the last change first. Throws PhoneNumberError. */
  listFloats(query: PhoneQuery): Promise<PhoneFloat[]>;
  /**
   * `filled`: payouts to this number are accepted from now on, also if the number's scenario is an empty float.
   * `empty`: payouts to this number are refused, whatever its scenario. Throws PhoneNumberError.
   */
  setFloat(line: PhoneLine, state: FloatState): Promise<void>;
}

/** A batch at a time. That it is complete says nothing about its payouts. */
export interface Batch extends StoredBatch {
  isComplete: boolean;
  payouts: readonly Payout[];
}

/** How a caller of the API names a payout or a batch; it must belong to the caller's account and network. */
export interface PayoutAddress {
  account: string;
  network: string;
  payoutId: string;
}

// Enough for a phone's screen.
const arrivalsMax = 20;
const floatsMax = 20;

export function createSimulatedPayouts(context: SimulatorContext): SimulatedPayouts {
  const { db, clock } = context;
  return {
    start: (request, alongside) => startPayout(context, request, alongside),
    startBatch: (request) => startBatch(context, request),
    findBatch: (key) => findBatch(context, key),
    search: async (key) => {
      const now = clock.now();
      const payouts = await listPayoutsByClientReference(db, key);
      return payouts.flatMap((payout) => visiblePayout(payout, now) ?? []);
    },
    find: async (key) => {
      const payout = await findPayoutOrRefund(context, key);
      return payout?.refundedTransactionId === null ? payout : undefined;
    },
    findPayoutOrRefund: (key) => findPayoutOrRefund(context, key),
    findByTransaction: async (key) => visiblePayout(await findPayoutByTransaction(db, key), clock.now()),
    listArrivals: async (query) => {
      const key = phoneKey(query);
      if (!key) return [];
      const payouts = await listPayoutsByNumber(db, { ...key, rowsMax: arrivalsMax });
      const now = clock.now();
      return payouts.map((payout) => arrivalOf(payout, now)).filter((arrival) => arrival !== undefined);
    },
    listFloats: async (query) => {
      const key = phoneKey(query);
      return key ? (await listFloatsByNumber(db, { ...key, rowsMax: floatsMax })).map(phoneFloatOf) : [];
    },
    setFloat: async (line, state) => {
      await db.run(upsertFloat(payoutLine(line), { state, changedAt: clock.now() }));
    },
  };
}

async function findPayoutOrRefund(
  { db, clock }: SimulatorContext,
  { account, network, payoutId }: PayoutAddress,
): Promise<Payout | undefined> {
  const key = recordKey(payoutId);
  if (key?.account !== account) return undefined;
  const payout = visiblePayout(await findPayoutById(db, key), clock.now());
  return payout?.network === network ? payout : undefined;
}

async function findBatch(
  { db, clock }: SimulatorContext,
  { account, network, payoutId: batchId }: PayoutAddress,
): Promise<Batch | undefined> {
  const key = recordKey(batchId);
  const batch = key?.account === account ? await findBatchById(db, key) : undefined;
  if (batch?.network !== network) return undefined;
  const now = clock.now();
  const references = Array.from({ length: Number(batch.payoutCount) }, (_, index) =>
    payoutReference(batch.reference, index),
  );
  const stored = await listPayoutsByReferences(db, { account, network, references });
  const payouts = stored
    .toSorted((one, other) => references.indexOf(one.reference) - references.indexOf(other.reference))
    .flatMap((payout) => visiblePayout(payout, now) ?? []);
  return { ...batch, isComplete: addMs(batch.createdAt, batchMs) <= now, payouts };
}

export function payoutLine({ account, network, number }: PhoneLine): PayoutLine {
  return { account, network, beneficiaryNumber: canonicalNumber(number) };
}

/** Undefined for text that is not an account; the database refuses some of it with an error. */
function phoneKey({ number, account }: PhoneQuery): { beneficiaryNumber: string; account: string | null } | undefined {
  const beneficiaryNumber = canonicalNumber(number);
  return account === undefined || isAccount(account) ? { beneficiaryNumber, account: account ?? null } : undefined;
}

/** The payout in its current state, unless the network pretends not to know it yet. */
function visiblePayout(payout: Payout | undefined, now: Date): Payout | undefined {
  return payout && payout.visibleAt <= now ? payoutAt(payout, now) : undefined;
}
