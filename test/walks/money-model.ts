import { least } from '../../server/src/kit/money.ts';
import { RefundModel, type ModelCharge, type ModelRefund } from '../../server/src/refunds/refund-model.corpus.ts';

// Written from the documents (docs/ledger.md, docs/refunds.md), not from the code. Amounts are bututs.

export const collectionFeeMinor = 25n;
export const transferFeeMinor = 37n;
const minuteMs = 60_000;
const lifetimeMs = 30 * minuteMs;
export const reserveMs = 60 * minuteMs;

export interface ModelPayment {
  /** The payment's id, and the charge's reference. */
  id: string;
  reference: string;
  /** `over`: the payer paid another amount, which waits for an operator. */
  state: 'waiting' | 'declined' | 'cancelled' | 'paid' | 'over' | 'reversed';
  expiresAtMs: number;
  paidMinor: bigint;
  shares: ReadonlyMap<string, bigint>;
  /** Whether the payer's number refuses what is refunded to it. */
  refusesRefunds: boolean;
  /** Once it is paid. */
  charge: ModelCharge | null;
  hasDeletedShare: boolean;
}

export interface ModelTransfer {
  amountMinor: bigint;
  /** What the network does next, and when. */
  next: 'pays' | 'returns';
  atMs: number;
}

export interface ModelSub {
  id: string;
  isActive: boolean;
  isDeleted: boolean;
  refusesPayouts: boolean;
}

/** The money of one merchant and its sub-accounts, in a few lines and without a database. */
export class MoneyModel extends RefundModel {
  readonly hasReserve: boolean;
  nowMs = 0;
  suspenseMinor = 0n;
  readonly payments: ModelPayment[] = [];
  readonly underWay: ModelTransfer[] = [];
  readonly subAccounts: ModelSub[] = [];
  readonly groups: { id: string; members: readonly string[] }[] = [];
  readonly customers: string[] = [];
  /** When the last reserve ends. */
  #settledAtMs = 0;

  constructor(start: { merchantMinor: bigint; feesMinor: bigint; hasReserve: boolean }) {
    super({ ...start, heldMinor: 0n, everOwed: false });
    this.hasReserve = start.hasReserve;
  }

  /** Whether all money can be spent. */
  get isSettled(): boolean {
    return this.nowMs >= this.#settledAtMs;
  }

  start(payment: Pick<ModelPayment, 'id' | 'reference' | 'paidMinor' | 'shares' | 'refusesRefunds'>): ModelPayment {
    const rest = { state: 'waiting', charge: null, hasDeletedShare: false } as const;
    const started: ModelPayment = { ...payment, ...rest, expiresAtMs: this.nowMs + lifetimeMs };
    this.payments.push(started);
    return started;
  }

  /** Paid, however late. The share of a deleted sub-account waits for an operator. */
  succeed(payment: ModelPayment): void {
    const isDeleted = (id: string): boolean => this.subAccounts.some((sub) => sub.id === id && sub.isDeleted);
    const shares = new Map([...payment.shares].filter(([id]) => !isDeleted(id)));
    const deletedMinor = sum(payment.shares.values()) - sum(shares.values());
    this.pay({ paidMinor: payment.paidMinor, feeMinor: collectionFeeMinor, isFeeReturned: false, shares });
    this.merchantMinor -= deletedMinor;
    this.suspenseMinor += deletedMinor;
    payment.state = 'paid';
    payment.charge = this.charges.at(-1) ?? null;
    payment.hasDeletedShare = deletedMinor > 0n;
    if (this.hasReserve) this.#settledAtMs = this.nowMs + reserveMs;
  }

  /** The payer paid more than was asked for. */
  overpay(payment: ModelPayment, extraMinor: bigint): void {
    payment.state = 'over';
    this.suspenseMinor += payment.paidMinor + extraMinor;
  }

  /** The network takes a payment back: everybody gives a part, and the merchant what a sub-account no longer has. */
  reverse(payment: ModelPayment): void {
    payment.state = 'reversed';
    this.feesMinor -= collectionFeeMinor;
    this.merchantMinor -= payment.paidMinor - collectionFeeMinor;
    for (const [sub, share] of payment.shares) {
      const has = this.subs.get(sub) ?? 0n;
      const returned = least(has, share);
      this.subs.set(sub, has - returned);
      this.owed.set(sub, (this.owed.get(sub) ?? 0n) + share - returned);
      this.merchantMinor += returned;
    }
    this.everOwed ||= this.merchantMinor < 0n;
  }

  /** Payments that are paid and whose shares all have their sub-accounts. */
  get refundable(): ModelPayment[] {
    const isHere = (id: string): boolean => this.subAccounts.some((sub) => sub.id === id && !sub.isDeleted);
    return this.payments.filter(
      ({ state, shares, hasDeletedShare }) => state === 'paid' && !hasDeletedShare && [...shares.keys()].every(isHere),
    );
  }

  /** Those of which nothing is refunded. */
  get reversible(): ModelPayment[] {
    const isWhole = (refunds: readonly ModelRefund[]): boolean => refunds.every(({ status }) => status === 'failed');
    return this.refundable.filter(({ charge }) => charge !== null && isWhole(charge.refunds));
  }

  accept(amountMinor: bigint): void {
    this.merchantMinor -= amountMinor + transferFeeMinor;
    this.heldMinor += amountMinor + transferFeeMinor;
  }

  end(amountMinor: bigint, isPaid: boolean): void {
    this.heldMinor -= amountMinor + transferFeeMinor;
    if (isPaid) this.feesMinor += transferFeeMinor;
    else this.merchantMinor += amountMinor + transferFeeMinor;
  }

  passTime(ms: number): void {
    this.nowMs += ms;
    for (const transfer of this.underWay.splice(0)) {
      if (transfer.atMs > this.nowMs) this.underWay.push(transfer);
      else if (transfer.next === 'pays') this.end(transfer.amountMinor, true);
      else {
        this.feesMinor -= transferFeeMinor;
        this.merchantMinor += transfer.amountMinor + transferFeeMinor;
      }
    }
  }

  /** By account; the merchant's less its debt, a sub-account's settled and pending together. */
  get balances(): Record<string, bigint> {
    return {
      merchant: this.merchantMinor,
      fees: this.feesMinor,
      held: this.heldMinor,
      suspense: this.suspenseMinor,
      ...Object.fromEntries(
        this.subAccounts.flatMap(({ id }) => [
          [`sub:${id}`, this.subs.get(id) ?? 0n],
          [`sub_owed:${id}`, this.owed.get(id) ?? 0n],
        ]),
      ),
    };
  }
}

export function sum(amounts: Iterable<bigint>): bigint {
  return [...amounts].reduce((total, amount) => total + amount, 0n);
}
