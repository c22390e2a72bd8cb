import { CallError, type CallResponse, type OutgoingCall } from './calls.ts';
import type { Fault } from './plan.ts';
import type { Scheduler } from './scheduler.ts';
import type { VirtualClock } from './virtual-clock.ts';

const minuteMs = 60_000;
const longestMinutes = 30;
// `silent`: requests arrive, and no response comes back.
const waysDown = ['refuses', 'fails', 'hangs', 'silent'] as const;
export type WayDown = (typeof waysDown)[number];
// Longer than any caller waits.
const hangMs = 70_000;
// To each of the simulated providers, which several networks share, and from it.
const providerPath = /^\/simulator\/networks\/(wave|gsma|54pay)\//;
const callbackPath = /^\/networks\/(wave|gsma|54pay)/;

interface Outage {
  provider: string;
  wayDown: WayDown;
  untilMs: number;
}

export interface OutagesOptions {
  scheduler: Scheduler;
  clock: VirtualClock;
  faults: readonly Fault[];
}

/** Networks that are down for minutes. Who is called next when a fault is due is down from then on. */
export class Outages {
  readonly #options: OutagesOptions;
  #outages: Outage[] = [];
  #faults: Fault[];

  constructor(options: OutagesOptions) {
    this.#options = options;
    const own = options.faults.filter(({ kind }) => kind === 'network_down');
    this.#faults = own.toSorted((one, other) => one.at - other.at);
  }

  /** A network that is down stays so until its time is over. */
  endFaults(): void {
    this.#faults = [];
  }

  /** Until the last network is up again; 0 if all are. */
  get msLeft(): number {
    const { passedMs } = this.#options.clock;
    return Math.max(0, ...this.#outages.map(({ untilMs }) => untilMs - passedMs));
  }

  /** How the provider that this call is for or from is down; null if it is up. */
  wayDown({ url }: OutgoingCall, callsCount: number): WayDown | null {
    const [, called] = providerPath.exec(url.pathname) ?? [];
    if (called !== undefined) this.#befall(called, callsCount);
    const [, provider = called] = callbackPath.exec(url.pathname) ?? [];
    const { passedMs } = this.#options.clock;
    const outage = this.#outages.find((one) => one.provider === provider && passedMs < one.untilMs);
    // It works on what has arrived, and reports it.
    if (called === undefined && outage?.wayDown === 'silent') return null;
    return outage?.wayDown ?? null;
  }

  #befall(provider: string, callsCount: number): void {
    const [fault] = this.#faults;
    if (!fault || callsCount < fault.at) return;
    this.#faults.shift();
    const { scheduler, clock } = this.#options;
    const minutes = 1 + (fault.choice % longestMinutes);
    const wayDown = waysDown[fault.choice % waysDown.length] ?? 'refuses';
    this.#outages.push({ provider, wayDown, untilMs: clock.passedMs + minutes * minuteMs });
    scheduler.note(`  fault ${fault.id}: ${provider} ${wayDown} for ${minutes} minutes`);
  }
}

/** What a caller has of somebody who is down. */
export async function respondDown(wayDown: WayDown, clock: VirtualClock): Promise<CallResponse> {
  if (wayDown === 'fails') return { status: 503, headers: {}, body: Buffer.from('') };
  if (wayDown === 'refuses') throw new CallError('ECONNREFUSED');
  await clock.ofMachine().sleep(hangMs);
  throw new CallError('UND_ERR_SOCKET');
}
