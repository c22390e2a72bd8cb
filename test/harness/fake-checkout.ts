import { AppError, fieldError } from '../../server/src/api/app-error.ts';
import type { ChangeFeed, Topic } from '../../server/src/kit/changes.ts';
import { CodeRefusedError } from '../../server/src/payments/apply-response.ts';
import type { CheckoutView } from '../../server/src/payments/checkout-view.ts';
import type { Checkout } from '../../server/src/payments/checkout.ts';

export type CheckoutCall =
  | { type: 'pay'; token: string; network: string; accountNumber: string | null }
  | { type: 'proceed'; token: string; code: string | null }
  | { type: 'submit_transaction_id'; token: string; typed: string }
  | { type: 'abandon'; token: string; attempt: string | null }
  | { type: 'cancel'; token: string };

/** Payments in memory, for tests of the pages alone. The test sets the result of the next action. */
export class FakeCheckout implements Checkout {
  readonly calls: CheckoutCall[] = [];
  readonly #views = new Map<string, CheckoutView>();
  readonly #changes: ChangeFeed;
  /** The result of the next action; an error is thrown. With null the payment stays as it is. */
  next: CheckoutView | Error | null = null;
  /** Thrown by every read, as by a database that is down. */
  outage: Error | null = null;
  reads = 0;

  constructor(changes: ChangeFeed) {
    this.#changes = changes;
  }

  /** Changes a payment as a worker does, with a hint to listeners. */
  set(token: string, view: CheckoutView): void {
    this.#views.set(token, view);
    this.#changes.notify(this.topic(view));
  }

  /** The same with a lost hint. */
  setSilently(token: string, view: CheckoutView): void {
    this.#views.set(token, view);
  }

  async find(token: string): Promise<CheckoutView | undefined> {
    this.reads += 1;
    if (this.outage !== null) throw this.outage;
    return this.#views.get(token);
  }

  async countView(): Promise<void> {
    if (this.outage !== null) throw this.outage;
  }

  async pay(token: string, choice: { network: string; accountNumber: string | null }): Promise<CheckoutView> {
    this.calls.push({ type: 'pay', token, ...choice });
    return this.#act(token);
  }

  async started(token: string): Promise<CheckoutView> {
    return this.#act(token);
  }

  async proceed(token: string, code: string | null): Promise<CheckoutView> {
    this.calls.push({ type: 'proceed', token, code });
    return this.#act(token);
  }

  async submitTransactionId(token: string, typed: string): Promise<CheckoutView> {
    this.calls.push({ type: 'submit_transaction_id', token, typed });
    return this.#act(token);
  }

  async abandon(token: string, attempt: string | null): Promise<CheckoutView> {
    this.calls.push({ type: 'abandon', token, attempt });
    return this.#act(token);
  }

  async cancel(token: string): Promise<CheckoutView> {
    this.calls.push({ type: 'cancel', token });
    return this.#act(token);
  }

  topic(view: CheckoutView): Topic {
    return `intent:${view.intentId}`;
  }

  #act(token: string): CheckoutView {
    const view = this.next ?? this.#views.get(token);
    if (view instanceof Error) throw view;
    if (view === undefined) throw new AppError('not_found', 'There is no payment at this address.');
    this.set(token, view);
    return view;
  }
}

export function refusedNumber(): AppError {
  return fieldError('account_number_invalid', 'account_number', 'Write a Gambian number with 7 or 9 digits.');
}

export function refusedCode(): AppError {
  return new CodeRefusedError(2);
}

/** A change feed within this process. */
export class LocalChangeFeed implements ChangeFeed {
  readonly #listeners = new Map<Topic, Set<() => void>>();
  readonly #kindListeners = new Set<(topic: Topic) => void>();

  notify(topic: Topic): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener();
    for (const listener of this.#kindListeners) listener(topic);
  }

  subscribe(topic: Topic, listener: () => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    this.#listeners.set(topic, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(topic);
    };
  }

  subscribeKind(kind: string, listener: (which: string) => void): () => void {
    const kindListener = (topic: Topic): void => {
      if (topic.startsWith(`${kind}:`)) listener(topic.slice(kind.length + 1));
    };
    this.#kindListeners.add(kindListener);
    return () => this.#kindListeners.delete(kindListener);
  }

  /** The number of topics with listeners. */
  get topics(): number {
    return this.#listeners.size;
  }
}
