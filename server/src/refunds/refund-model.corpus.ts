import { least } from '../kit/money.ts';

/**
 * The balances of payments that are shared, refunded and paid out, in a few lines and without a database: written from
 * the rules (docs/refunds.md, "Who bears it"; docs/splits.md), not from the code. Amounts are bututs.
 */
export class RefundModel {
  /** The merchant's balance less its debt, which comes from roundings that it had got and spent before it had to return them. */
  merchantMinor: bigint;
  feesMinor: bigint;
  heldMinor: bigint;
  /** Whether the merchant has ever owed: then a refund may take what its payment repaid, beyond what the merchant has. */
  everOwed: boolean;
  readonly subs = new Map<string, bigint>();
  /** What sub-accounts owe the merchant for its advances. */
  readonly owed = new Map<string, bigint>();
  readonly charges: ModelCharge[] = [];

  constructor(start: { merchantMinor: bigint; feesMinor: bigint; heldMinor: bigint; everOwed: boolean }) {
    this.merchantMinor = start.merchantMinor;
    this.feesMinor = start.feesMinor;
    this.heldMinor = start.heldMinor;
    this.everOwed = start.everOwed;
  }

  pay(charge: Pick<ModelCharge, 'paidMinor' | 'feeMinor' | 'isFeeReturned' | 'shares'>): void {
    this.charges.push({ ...charge, refunds: [] });
    this.feesMinor += charge.feeMinor;
    this.merchantMinor += charge.paidMinor - charge.feeMinor;
    for (const [sub, share] of charge.shares) {
      this.merchantMinor -= share;
      const repaid = least(this.#owes(sub), share);
      this.owed.set(sub, this.#owes(sub) - repaid);
      this.merchantMinor += repaid;
      this.#give(sub, share - repaid);
    }
  }

  leftMinor(charge: ModelCharge): bigint {
    return activeRefunds(charge).reduce((left, refund) => left - refund.amountMinor, charge.paidMinor);
  }

  /** False where it is refused because the merchant cannot cover it; `canOwe` books it all the same. */
  refund(charge: ModelCharge, amountMinor: bigint, { canOwe }: { canOwe: boolean }): boolean {
    const soFar = charge.paidMinor - this.leftMinor(charge) + amountMinor;
    const dueOf = (whole: bigint, before: bigint) => most((whole * soFar) / charge.paidMinor - before, 0n);
    const feeBefore = activeRefunds(charge).reduce((sum, refund) => sum + refund.feeMinor, 0n);
    const feeMinor = charge.isFeeReturned ? dueOf(charge.feeMinor, feeBefore) : 0n;
    const shares = new Map<string, { returnedMinor: bigint; advancedMinor: bigint }>();
    let fromMerchant = amountMinor - feeMinor;
    for (const [sub, share] of charge.shares) {
      const before = activeRefunds(charge).reduce((sum, refund) => sum + wholeOf(refund.shares.get(sub)), 0n);
      const due = dueOf(share, before);
      const returnedMinor = least(this.subs.get(sub) ?? 0n, due);
      shares.set(sub, { returnedMinor, advancedMinor: due - returnedMinor });
      fromMerchant -= returnedMinor;
    }
    if (fromMerchant > most(this.merchantMinor, 0n) && !canOwe) return false;
    charge.refunds.push({ amountMinor, feeMinor, shares, fromMerchant, status: 'pending' });
    this.heldMinor += amountMinor;
    this.merchantMinor -= fromMerchant;
    this.feesMinor -= feeMinor;
    for (const [sub, { returnedMinor, advancedMinor }] of shares) {
      this.#give(sub, -returnedMinor);
      this.owed.set(sub, this.#owes(sub) + advancedMinor);
    }
    return true;
  }

  complete(refund: ModelRefund): void {
    refund.status = 'completed';
    this.heldMinor -= refund.amountMinor;
  }

  /** The refund failed or was reversed: each party gets its part back. */
  undo(refund: ModelRefund): void {
    if (refund.status === 'pending') this.heldMinor -= refund.amountMinor;
    refund.status = 'failed';
    this.merchantMinor += refund.fromMerchant;
    this.feesMinor += refund.feeMinor;
    for (const [sub, { returnedMinor, advancedMinor }] of refund.shares) {
      const forgiven = least(this.#owes(sub), advancedMinor);
      this.owed.set(sub, this.#owes(sub) - forgiven);
      this.merchantMinor -= advancedMinor - forgiven;
      this.#return(sub, returnedMinor + advancedMinor - forgiven);
    }
    this.everOwed ||= this.merchantMinor < 0n;
  }

  payOut(sub: string, amountMinor: bigint): void {
    this.#give(sub, -amountMinor);
    this.heldMinor += amountMinor;
  }

  endPayout(sub: string, amountMinor: bigint, isPaid: boolean): void {
    this.heldMinor -= amountMinor;
    if (!isPaid) this.#return(sub, amountMinor);
  }

  /** Money that returns to a sub-account repays its debt. */
  #return(sub: string, amountMinor: bigint): void {
    const repaid = least(this.#owes(sub), amountMinor);
    this.owed.set(sub, this.#owes(sub) - repaid);
    this.merchantMinor += repaid;
    this.#give(sub, amountMinor - repaid);
  }

  #give(sub: string, amountMinor: bigint): void {
    this.subs.set(sub, (this.subs.get(sub) ?? 0n) + amountMinor);
  }

  #owes(sub: string): bigint {
    return this.owed.get(sub) ?? 0n;
  }
}

export interface ModelCharge {
  paidMinor: bigint;
  feeMinor: bigint;
  isFeeReturned: boolean;
  shares: ReadonlyMap<string, bigint>;
  refunds: ModelRefund[];
}

export interface ModelRefund {
  amountMinor: bigint;
  feeMinor: bigint;
  shares: ReadonlyMap<string, { returnedMinor: bigint; advancedMinor: bigint }>;
  fromMerchant: bigint;
  status: 'pending' | 'completed' | 'failed';
}

function activeRefunds({ refunds }: ModelCharge): ModelRefund[] {
  return refunds.filter(({ status }) => status !== 'failed');
}

function wholeOf(part: { returnedMinor: bigint; advancedMinor: bigint } | undefined): bigint {
  return part ? part.returnedMinor + part.advancedMinor : 0n;
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
