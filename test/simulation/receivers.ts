import { createHmac } from 'node:crypto';
import type { CallResponse, OutgoingCall } from './calls.ts';
import { respondDown, type WayDown } from './outages.ts';
import type { Fault } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const receiverUrl = 'http://127.0.0.1:9002';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
// Between the first attempts, between later ones, and longer than the day after which a merchant is warned.
const downMs = [20 * secondMs, 600 * secondMs, 3 * hourMs, 26 * hourMs] as const;
const waysDown: readonly WayDown[] = ['refuses', 'fails', 'hangs'];
// One in so many of those that are switched off has failed for days; the others say that they are gone.
const daysDownShare = 4;

interface Receiver {
  /** The only one that it knows: it replaces the one before as soon as it is shown. */
  secret: string;
  downUntilMs: number;
  wayDown: WayDown;
  /** Down until its merchant has seen to it; its endpoint is switched off meanwhile. */
  off: 'gone' | 'for_days' | null;
  hasBeenOff: boolean;
  accepted: Set<string>;
}

export interface ReceiversOptions {
  scheduler: Scheduler;
  clock: VirtualClock;
  faults: readonly Fault[];
}

/** The merchants' servers for events. Each accepts what its secret has signed, as Standard Webhooks says, and may be down. */
export class Receivers {
  /** The events that were accepted, by their `webhook-id`. */
  readonly accepted = new Map<string, number>();
  readonly #options: ReceiversOptions;
  readonly #byPath = new Map<string, Receiver>();
  #faults: Fault[];

  constructor(options: ReceiversOptions) {
    this.#options = options;
    const ofReceivers = options.faults.filter(({ kind }) => kind === 'receiver_down' || kind === 'receiver_off');
    this.#faults = ofReceivers.toSorted((one, other) => one.at - other.at);
  }

  /** A receiver that is down stays so until its time is over. */
  endFaults(): void {
    this.#faults = [];
  }

  get areDownForHours(): boolean {
    const inAnHour = this.#options.clock.passedMs + hourMs;
    return [...this.#byPath.values()].some(({ downUntilMs }) => downUntilMs > inAnHour);
  }

  /** Why the merchant's receiver is down until it is brought back; null if it is not. */
  whyOff(shortId: string): Receiver['off'] {
    return this.#byPath.get(receiverPath(shortId))?.off ?? null;
  }

  hasBeenOff(shortId: string): boolean {
    return this.#byPath.get(receiverPath(shortId))?.hasBeenOff ?? false;
  }

  bringBack(shortId: string): void {
    const receiver = this.#byPath.get(receiverPath(shortId));
    if (receiver) Object.assign(receiver, { off: null, downUntilMs: 0 });
  }

  /** The merchant was shown this secret. */
  learn(shortId: string, secret: string): void {
    this.learnAt(receiverPath(shortId), secret);
  }

  /** As `learn`, for one of several endpoints of a merchant. */
  learnAt(path: string, secret: string): void {
    const known = this.#byPath.get(path);
    const state = { downUntilMs: 0, wayDown: 'refuses', off: null, hasBeenOff: false } as const;
    if (known) known.secret = secret;
    else this.#byPath.set(path, { secret, ...state, accepted: new Set() });
  }

  /** The events that one endpoint has accepted. */
  acceptedAt(path: string): ReadonlySet<string> {
    return this.#byPath.get(path)?.accepted ?? new Set();
  }

  async receive(call: OutgoingCall, callsCount: number): Promise<CallResponse> {
    const { clock } = this.#options;
    const receiver = this.#byPath.get(call.url.pathname);
    if (!receiver) throw new Error(`nobody receives at ${call.url.pathname}`);
    this.#befall(receiver, callsCount);
    if (receiver.off === 'gone') return respond(410);
    if (receiver.off === 'for_days') return respondDown(receiver.wayDown, clock);
    if (clock.passedMs < receiver.downUntilMs) return respondDown(receiver.wayDown, clock);
    if (!isSigned(call, receiver.secret)) return respond(401);
    const id = call.headers['webhook-id'] ?? 'none';
    this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
    receiver.accepted.add(id);
    return respond(200);
  }

  #befall(receiver: Receiver, callsCount: number): void {
    const [fault] = this.#faults;
    if (!fault || callsCount < fault.at) return;
    this.#faults.shift();
    const { scheduler, clock } = this.#options;
    receiver.wayDown = waysDown[fault.choice % waysDown.length] ?? 'refuses';
    if (fault.kind === 'receiver_off') {
      receiver.off = fault.choice % daysDownShare === 0 ? 'for_days' : 'gone';
      receiver.hasBeenOff = true;
      scheduler.note(`  fault ${fault.id}: a receiver is off, ${receiver.off}`);
      return;
    }
    const forMs = downMs[fault.choice % downMs.length] ?? 0;
    receiver.downUntilMs = clock.passedMs + forMs;
    scheduler.note(`  fault ${fault.id}: a receiver ${receiver.wayDown} for ${forMs} ms`);
  }
}

export function receiverPath(shortId: string): string {
  return `/${shortId}/events`;
}

export function addedPath(shortId: string, number: number): string {
  return `${receiverPath(shortId)}/${number}`;
}

function respond(status: number): CallResponse {
  return { status, headers: {}, body: Buffer.from('') };
}

function isSigned({ headers, body }: OutgoingCall, secret: string): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers;
  if (secret === '') return false;
  const key = Buffer.from(secret.replace(/^wh_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return signatures.split(' ').includes(`v1,${expected}`);
}
