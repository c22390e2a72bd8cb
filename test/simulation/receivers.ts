import { createHmac } from 'node:crypto';
import type { CallResponse, OutgoingCall } from './calls.ts';
import { CallError } from './calls.ts';
import type { Fault } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualClock } from './virtual-clock.ts';

export const receiverUrl = 'http://127.0.0.1:9002';

const secondMs = 1_000;
const hourMs = 3_600 * secondMs;
// Between the first attempts, between later ones, and longer than the day after which a merchant is warned.
const downMs = [20 * secondMs, 600 * secondMs, 3 * hourMs, 26 * hourMs] as const;
const waysDown = ['refuses', 'fails', 'hangs'] as const;
// Longer than any caller waits.
const hangMs = 70 * secondMs;

interface Receiver {
  /** The only one that it knows: it replaces the one before as soon as it is shown. */
  secret: string;
  downUntilMs: number;
  wayDown: (typeof waysDown)[number];
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
    const ofReceivers = options.faults.filter(({ kind }) => kind === 'receiver_down');
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

  /** The merchant was shown this secret. */
  learn(shortId: string, secret: string): void {
    const path = receiverPath(shortId);
    const known = this.#byPath.get(path);
    if (known) known.secret = secret;
    else this.#byPath.set(path, { secret, downUntilMs: 0, wayDown: 'refuses' });
  }

  async receive(call: OutgoingCall, callsCount: number): Promise<CallResponse> {
    const { clock } = this.#options;
    const receiver = this.#byPath.get(call.url.pathname);
    if (!receiver) throw new Error(`nobody receives at ${call.url.pathname}`);
    this.#befall(receiver, callsCount);
    if (clock.passedMs < receiver.downUntilMs) return this.#failToReceive(receiver);
    if (!isSigned(call, receiver.secret)) return respond(401);
    const id = call.headers['webhook-id'] ?? 'none';
    this.accepted.set(id, (this.accepted.get(id) ?? 0) + 1);
    return respond(200);
  }

  #befall(receiver: Receiver, callsCount: number): void {
    const [fault] = this.#faults;
    if (!fault || callsCount < fault.at) return;
    this.#faults.shift();
    const { scheduler, clock } = this.#options;
    const forMs = downMs[fault.choice % downMs.length] ?? 0;
    receiver.wayDown = waysDown[fault.choice % waysDown.length] ?? 'refuses';
    receiver.downUntilMs = clock.passedMs + forMs;
    scheduler.note(`  fault ${fault.id}: a receiver ${receiver.wayDown} for ${forMs} ms`);
  }

  async #failToReceive({ wayDown }: Receiver): Promise<CallResponse> {
    if (wayDown === 'fails') return respond(500);
    if (wayDown === 'refuses') throw new CallError('ECONNREFUSED');
    await this.#options.clock.ofMachine().sleep(hangMs);
    throw new CallError('UND_ERR_SOCKET');
  }
}

export function receiverPath(shortId: string): string {
  return `/${shortId}/events`;
}

function respond(status: number): CallResponse {
  return { status, headers: {}, body: Buffer.from('') };
}

function isSigned({ headers, body }: OutgoingCall, secret: string): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '', 'webhook-signature': signatures = '' } = headers;
  const key = Buffer.from(secret.replace(/^wh_/, ''), 'base64');
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  return signatures.split(' ').includes(`v1,${expected}`);
}
