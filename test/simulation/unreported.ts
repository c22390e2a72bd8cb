import type { OutgoingCall } from './calls.ts';
import { referenceOf } from './contradictions.ts';
import type { Fault } from './plan.ts';

// To a network, and from it.
const networkPath = /^\/(?:simulator\/)?networks\//;
const startPath = /^\/simulator\/networks\/.*\/(?:sessions|payin|payout|merchantpay|disbursement)$/;

/**
 * Payments and payouts of which a network says nothing: whoever asks is refused, and its callbacks do not arrive. Only its books, in
 * which an operator looks them up, show the outcome.
 */
export class Unreported {
  /** By our reference: the texts by which a call is known to be about it. */
  readonly #marks = new Map<string, readonly string[]>();
  #faults: Fault[];

  constructor(faults: readonly Fault[]) {
    const own = faults.filter(({ kind }) => kind === 'unreported');
    this.#faults = own.toSorted((one, other) => one.at - other.at);
  }

  /** What has begun stays unreported. */
  endFaults(): void {
    this.#faults = [];
  }

  /** Whether the next fault befalls this call, which begins a payment or payout: its response is lost, and nothing is reported later. */
  befall(call: OutgoingCall, callsCount: number): Fault | undefined {
    const [fault] = this.#faults;
    if (!fault || callsCount < fault.at || call.method !== 'POST' || !startPath.test(call.url.pathname))
      return undefined;
    const reference = referenceIn(call);
    if (reference === null) return undefined;
    const { 'x-correlationid': id } = lowerCased(call.headers);
    this.#marks.set(reference, [reference, ...(id === undefined ? [] : [id])]);
    return this.#faults.shift();
  }

  get isAny(): boolean {
    return this.#marks.size > 0;
  }

  concerns(call: OutgoingCall): boolean {
    if (this.#marks.size === 0 || !networkPath.test(call.url.pathname)) return false;
    const text = `${call.url.href} ${JSON.stringify(call.headers)} ${call.body.toString('utf8')}`;
    return [...this.#marks.values()].some((marks) => marks.some((mark) => text.includes(mark)));
  }

  /** An operator has learned the outcome; from then on the network reports it to everybody. */
  report(reference: string): void {
    this.#marks.delete(reference);
  }
}

function referenceIn({ body }: OutgoingCall): string | null {
  const text = body.toString('utf8');
  if (!text.startsWith('{')) return null;
  const reference = referenceOf(JSON.parse(text) as Record<string, unknown>);
  return typeof reference === 'string' ? reference : null;
}

function lowerCased(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
