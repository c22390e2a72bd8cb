import type { Charge, ChargeStatus } from './charge.ts';
import type { IntentStatus, Review } from './intent.ts';

/**
 * The expected states of one intent, its attempts and its money, without a database: written from the rules
 * (docs/architecture.md, "States", and docs/ledger.md, "Flows"), not from the code.
 */
export class PaymentModel {
  status: IntentStatus = 'processing';
  review: Review | null = null;
  late = false;
  isTimeUp = false;
  charges: ModelCharge[] = [];
  /** Bututs that the intent has added to the merchant's balance, and to suspense. */
  merchantGot = 0n;
  inSuspense = 0n;
  intentEvents: string[] = ['payment_intent.created'];
  /** Whether the network cancels on request; otherwise it goes on collecting. */
  readonly networkCancels: boolean;
  readonly #amountMinor: bigint;
  /** Which charge a network's transaction has settled. */
  readonly #owners = new Map<string, number>();

  constructor({
    amountMinor,
    number,
    networkCancels,
  }: {
    amountMinor: bigint;
    number: string;
    networkCancels: boolean;
  }) {
    this.#amountMinor = amountMinor;
    this.networkCancels = networkCancels;
    this.#addCharge(number);
  }

  get statusNow(): IntentStatus {
    return this.#isOpen(this.status) && this.isTimeUp && this.review === null ? 'expired' : this.status;
  }

  /** False where another attempt is refused. The number of an attempt that was left and is still open resumes that one. */
  attempt(number: string): boolean {
    if (this.statusNow !== 'requires_payment_method') return false;
    // Received money is under review: nobody should pay again.
    if (this.review !== null) return false;
    const left = this.#openAbandoned.find((charge) => charge.number === number && charge.review === null);
    if (left ? left.notes.filter((kind) => kind === 'attempt_resumed').length >= 3 : this.charges.length >= 5)
      return false;
    this.status = 'processing';
    if (left) {
      left.isAbandoned = false;
      left.isToBeCancelled = false;
      left.notes.push('attempt_resumed');
    } else this.#addCharge(number);
    return true;
  }

  /** False where there is no attempt to leave, or no further one to change to. */
  abandon(): boolean {
    const current = this.charges.find(({ status, isAbandoned }) => status === 'pending' && !isAbandoned);
    if (this.statusNow !== 'processing' || !current || this.charges.length >= 5) return false;
    if (this.review !== null || current.review !== null) return false;
    current.isAbandoned = true;
    current.notes.push('attempt_abandoned');
    if (current.isSent) current.isToBeCancelled = true;
    else current.status = 'cancelled';
    this.status = 'requires_payment_method';
    return true;
  }

  cancel(): boolean {
    if (!this.#isOpen(this.statusNow) || this.review !== null) return false;
    this.status = 'cancelled';
    this.intentEvents.push('payment_intent.cancelled');
    for (const charge of this.charges) if (charge.status === 'pending') charge.isToBeCancelled = true;
    return true;
  }

  expire(): void {
    if (this.statusNow !== 'expired' || this.status === 'expired') return;
    this.status = 'expired';
    this.intentEvents.push('payment_intent.expired');
    for (const charge of this.#openAbandoned) charge.isToBeCancelled = true;
  }

  /** The worker sends and cancels what is due. */
  work(): void {
    for (const charge of this.charges) if (charge.status === 'pending' && !charge.isSent) this.#send(charge);
    for (const charge of this.charges) {
      if (charge.isToBeCancelled && this.networkCancels) this.refuse(charge, true);
      charge.isToBeCancelled = false;
    }
  }

  /** What the payer has left is stopped first. Money that is under review must not be paid again. */
  #send(charge: ModelCharge): void {
    if (this.networkCancels) for (const left of this.#openAbandoned) this.refuse(left, true);
    if (this.statusNow === 'processing' && this.review === null) {
      charge.isSent = true;
      return;
    }
    charge.status = 'cancelled';
    this.#leaveProcessing();
  }

  /** An attempt that the payer had left ends alone. */
  refuse(charge: ModelCharge, asCancelled = false): void {
    if (charge.status !== 'pending' || charge.review !== null) return;
    charge.status = asCancelled ? 'cancelled' : 'failed';
    if (!asCancelled) charge.events.push('charge.failed');
    if (!charge.isAbandoned) this.#leaveProcessing();
  }

  #leaveProcessing(): void {
    if (this.statusNow !== 'processing') return;
    this.status = this.charges.length < 5 ? 'requires_payment_method' : 'failed';
    if (this.status === 'failed') for (const charge of this.#openAbandoned) charge.isToBeCancelled = true;
  }

  get #openAbandoned(): ModelCharge[] {
    return this.charges.filter(({ status, isAbandoned }) => status === 'pending' && isAbandoned);
  }

  succeed(charge: ModelCharge, transactionId: string, amountMinor: bigint): 'booked' | 'suspense' | 'nowhere' {
    if (!this.#claim(charge, transactionId)) {
      if (charge.openCase('receipt_reused', transactionId)) charge.review = 'receipt_reused';
      return 'nowhere';
    }
    if (charge.paidBy === transactionId) return 'booked';
    if (charge.transactionId === transactionId) return 'suspense';
    // It is in suspense, or its reversal was reported before it.
    if (charge.hasCase(transactionId)) return charge.hasCase(transactionId, moneyCases) ? 'suspense' : 'nowhere';
    const review = this.#reviewOf(amountMinor);
    if (review === null) return this.#book(charge, transactionId);
    charge.openCase(review, transactionId);
    charge.review = review;
    charge.transactionId ??= transactionId;
    this.inSuspense += amountMinor;
    if (review === 'amount_mismatch' && this.#isOpen(this.statusNow)) {
      this.review = review;
      for (const other of this.charges)
        if (other !== charge && other.status === 'pending') other.isToBeCancelled = true;
    }
    return 'suspense';
  }

  reverse(charge: ModelCharge, transactionId: string, amountMinor: bigint): void {
    // Money whose success was never reported: another transaction on a charge that has its own, or a part of the amount
    // requested. It gets a case, and nothing is booked.
    const isOwn = charge.transactionId === transactionId || charge.hasCase(transactionId, moneyCases);
    const isKnownSuccess = charge.transactionId === null ? amountMinor === this.#amountMinor : isOwn;
    if (!isKnownSuccess) {
      this.#claim(charge, transactionId);
      const isPart = amountMinor !== this.#amountMinor;
      charge.openCase(isPart ? 'partial_reversal' : 'network_reversal', transactionId);
      return;
    }
    const settled = this.succeed(charge, transactionId, amountMinor);
    if (settled === 'suspense') charge.openCase('network_reversal', transactionId);
    if (settled !== 'booked' || charge.status !== 'completed') return;
    charge.status = 'reversed';
    charge.events.push('charge.reversed');
    charge.openCase('network_reversal', transactionId);
    this.merchantGot -= this.#amountMinor;
  }

  /** A provider transaction belongs to the first charge that claims it. */
  #claim(charge: ModelCharge, transactionId: string): boolean {
    const index = this.charges.indexOf(charge);
    const owner = this.#owners.get(transactionId) ?? index;
    this.#owners.set(transactionId, owner);
    return owner === index;
  }

  #book(charge: ModelCharge, transactionId: string): 'booked' {
    // A late success follows the event of the expiry.
    this.expire();
    if (!this.#isOpen(this.statusNow)) this.late = true;
    this.status = 'successful';
    this.review = null;
    charge.status = 'completed';
    charge.paidBy = transactionId;
    charge.transactionId = transactionId;
    charge.events.push('charge.succeeded');
    this.merchantGot += this.#amountMinor;
    for (const other of this.charges) if (other.status === 'pending') other.isToBeCancelled = true;
    return 'booked';
  }

  #reviewOf(amountMinor: bigint): Review | null {
    if (amountMinor !== this.#amountMinor) return 'amount_mismatch';
    return this.status === 'successful' ? 'second_success' : null;
  }

  #isOpen(status: IntentStatus): boolean {
    return status === 'requires_payment_method' || status === 'processing';
  }

  #addCharge(number: string): void {
    this.charges.push(new ModelCharge(number));
  }
}

/** The cases of money in suspense. */
const moneyCases = ['amount_mismatch', 'second_success'];

export class ModelCharge {
  readonly number: string;
  status: ChargeStatus = 'pending';
  isAbandoned = false;
  review: Charge['review'] = null;
  isSent = false;
  isToBeCancelled = false;
  /** The provider transaction that is booked for it. */
  paidBy: string | null = null;
  /** The one that it shows: the one that paid it, else the first in suspense. */
  transactionId: string | null = null;
  events: string[] = ['charge.created'];
  /** Its notes of the payer's changes between attempts. */
  notes: string[] = [];
  readonly #cases = new Set<string>();

  constructor(number: string) {
    this.number = number;
  }

  /** The kinds of its cases, sorted. */
  get cases(): string[] {
    return [...this.#cases].map((name) => name.split(' ')[0] ?? '').toSorted();
  }

  /** True the first time: the same thing has one case. */
  openCase(kind: string, transactionId: string): boolean {
    const name = `${kind} ${transactionId}`;
    const isNew = !this.#cases.has(name);
    this.#cases.add(name);
    return isNew;
  }

  hasCase(transactionId: string, kinds?: readonly string[]): boolean {
    return [...this.#cases].some((name) => {
      const [kind = '', reference] = name.split(' ');
      return reference === transactionId && (kinds?.includes(kind) ?? true);
    });
  }
}
