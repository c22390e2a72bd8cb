import { CallError, type CallResponse, type OutgoingCall } from './calls.ts';
import { Choices } from './choices.ts';
import { contradict, falseKinds, type Contradiction, type FalseKind } from './contradictions.ts';
import { forge, signFalsely } from './false-callbacks.ts';
import { asInstance, untilCrash, type Machine } from './instance.ts';
import type { Networks } from './networks.ts';
import { Outages, respondDown } from './outages.ts';
import type { Fault } from './plan.ts';
import { Receivers, receiverUrl } from './receivers.ts';
import type { Scheduler } from './scheduler.ts';
import { Unreported } from './unreported.ts';
import type { VirtualClock } from './virtual-clock.ts';

export interface TrafficOptions {
  scheduler: Scheduler;
  clock: VirtualClock;
  choices: Choices;
  machines: readonly Machine[];
  networks: Networks;
  /** From which the networks derive what they sign with. */
  callbackSecret: string;
  faults: readonly Fault[];
}

// Longer than any caller waits.
const lateMs = 70_000;
// Longer than a simulated network's test account waits until it sends a payout again.
const payoutLateMs = 20_000;
const payoutPath = /\/(payout|disbursement)$/;
const callFaultKinds: ReadonlySet<string> = new Set([
  'refused',
  'lost',
  'answer_lost',
  'answer_late',
  'doubled',
  'unavailable',
]);

/** Carries every request between merchants, instances, networks and receivers, and befalls it with the plan's faults. */
export class Traffic {
  readonly receivers: Receivers;
  readonly unreported: Unreported;
  readonly outages: Outages;
  readonly contradictions: Contradiction[] = [];
  /** The statuses with which forged callbacks were answered. */
  readonly forged: number[] = [];
  readonly #options: TrafficOptions;
  readonly #faults: Map<number, Fault>;
  readonly #payoutFaults: Fault[];
  /** By kind, in the order in which they befall. */
  readonly #contradictions: Fault[];
  #callsCount = 0;

  constructor(options: TrafficOptions) {
    this.#options = options;
    this.receivers = new Receivers(options);
    this.unreported = new Unreported(options.faults);
    this.outages = new Outages(options);
    const ofCalls = options.faults.filter(({ kind }) => callFaultKinds.has(kind));
    this.#faults = new Map(ofCalls.map((fault) => [fault.at, fault]));
    const ofPayouts = options.faults.filter(({ kind }) => kind === 'payout_late');
    this.#payoutFaults = ofPayouts.toSorted((one, other) => one.at - other.at);
    this.#contradictions = falseKinds.flatMap((kind) =>
      options.faults.filter((fault) => fault.kind === kind).toSorted((one, other) => one.at - other.at),
    );
  }

  /** From here on all goes well. */
  endFaults(): void {
    this.#faults.clear();
    this.#payoutFaults.length = 0;
    this.#contradictions.length = 0;
    this.receivers.endFaults();
    this.unreported.endFaults();
    this.outages.endFaults();
  }

  /** Carries a call to whom it is addressed, and the response back. */
  async carry(call: OutgoingCall): Promise<CallResponse> {
    const { scheduler, clock } = this.#options;
    this.#callsCount += 1;
    const isUnreported = this.unreported.concerns(call);
    const begun = this.unreported.befall(call, this.#callsCount);
    const fault = begun ?? this.#faults.get(this.#callsCount) ?? this.#payoutFault(call);
    const label = `${call.method} ${call.url.origin === receiverUrl ? 'receiver' : call.url.pathname}`;
    await scheduler.waitForStep(`sends ${label}`);
    if (fault) scheduler.note(`  fault ${fault.id}: ${fault.kind}`);
    if (isUnreported) return unreportedResponse(call);
    const wayDown = this.outages.wayDown(call, this.#callsCount);
    if (wayDown !== null && wayDown !== 'silent') return respondDown(wayDown, clock);
    if (fault?.kind === 'refused') throw new CallError('ECONNREFUSED');
    if (fault?.kind === 'lost') throw new CallError('UND_ERR_SOCKET');
    if (fault?.kind === 'payout_late') {
      this.#arriveAgain(call, label, payoutLateMs);
      throw new CallError('UND_ERR_SOCKET');
    }
    if (fault?.kind === 'unavailable') return { status: 503, headers: {}, body: Buffer.from('') };
    const { sent, isForged } = this.#falsify({ ...call, body: this.#contradict('false_callback', call, call.body) });
    const arrival = asInstance(undefined, () => this.#arrive(sent));
    if (fault?.kind === 'doubled') this.#arriveAgain(sent, label);
    const response = await arrival;
    if (isForged) this.forged.push(response.status);
    for (const kind of ['false_look_up', 'false_amount'] as const)
      if (response.status === 200) response.body = this.#contradict(kind, call, response.body);
    await scheduler.waitForStep(`hears ${response.status} to ${label}`);
    if (wayDown === 'silent') return respondDown(wayDown, clock);
    if (fault?.kind === 'answer_lost' || fault?.kind === 'unreported') throw new CallError('UND_ERR_SOCKET');
    if (fault?.kind === 'answer_late') await clock.ofMachine().sleep(lateMs);
    return response;
  }

  /** What is said instead, once the next contradiction of this kind is due and there is something to contradict. */
  #contradict(kind: 'false_look_up' | 'false_amount' | 'false_callback', call: OutgoingCall, text: Buffer): Buffer {
    const fault = this.#dueContradiction(kind);
    const contradicted = fault && contradict(kind, call, { text, choices: choicesOf(fault) });
    if (!contradicted) return text;
    this.#noteContradiction(fault, contradicted.contradiction);
    return contradicted.text;
  }

  /** What arrives in place of a callback that its network signs. */
  #falsify(call: OutgoingCall): { sent: OutgoingCall; isForged: boolean } {
    const { callbackSecret } = this.#options;
    const forgery = this.#dueContradiction('forged_callback');
    const forged = forgery && forge(call, { callbackSecret, choices: choicesOf(forgery) });
    if (forged) {
      this.#contradictions.splice(this.#contradictions.indexOf(forgery), 1);
      this.#options.scheduler.note(`  fault ${forgery.id}: forged_callback`);
      return { sent: forged, isForged: true };
    }
    const fault = this.#dueContradiction('signed_callback');
    const signed = fault && signFalsely(call, { callbackSecret, choices: choicesOf(fault) });
    if (!signed) return { sent: call, isForged: false };
    this.#noteContradiction(fault, signed.contradiction);
    return { sent: signed.call, isForged: false };
  }

  #dueContradiction(kind: FalseKind): Fault | undefined {
    const fault = this.#contradictions.find((one) => one.kind === kind);
    return fault && this.#callsCount >= fault.at ? fault : undefined;
  }

  #noteContradiction(fault: Fault, contradiction: Contradiction): void {
    this.#contradictions.splice(this.#contradictions.indexOf(fault), 1);
    this.#options.scheduler.note(`  fault ${fault.id}: ${contradiction.kind} about ${contradiction.reference}`);
    this.contradictions.push(contradiction);
  }

  #payoutFault({ method, url }: OutgoingCall): Fault | undefined {
    const [fault] = this.#payoutFaults;
    const isPayout = method === 'POST' && payoutPath.test(url.pathname);
    return isPayout && fault && this.#callsCount >= fault.at ? this.#payoutFaults.shift() : undefined;
  }

  #arriveAgain(call: OutgoingCall, label: string, afterMs = 0): void {
    void asInstance(undefined, async () => {
      await this.#options.clock.ofMachine().sleep(afterMs);
      await this.#options.scheduler.waitForStep(`arrives again ${label}`);
      await this.#arrive(call).catch(() => {});
    });
  }

  async #arrive(call: OutgoingCall): Promise<CallResponse> {
    const { networks } = this.#options;
    const path = call.url.pathname + call.url.search;
    if (call.url.origin === receiverUrl) return this.receivers.receive(call, this.#callsCount);
    if (!path.startsWith('/simulator/networks/')) return this.#arriveAtApi(call);
    return inject(networks.server, call);
  }

  /** A load balancer sends it to an instance that is up. */
  async #arriveAtApi(call: OutgoingCall): Promise<CallResponse> {
    const up = this.#options.machines.flatMap(({ role, instance }) =>
      role === 'api' && instance?.app && !instance.hasCrashed ? [instance] : [],
    );
    const instance = up[this.#options.choices.below(Math.max(1, up.length))];
    if (!instance?.app) throw new CallError('ECONNREFUSED');
    const { server } = instance.app;
    return untilCrash(instance, new CallError('UND_ERR_SOCKET'), () =>
      asInstance(instance, () => inject(server, call)),
    );
  }
}

function choicesOf({ choice }: Fault): Choices {
  return new Choices(`contradiction ${choice}`);
}

/** Of a network that does not want to be asked; what it calls back with is lost on the way. */
function unreportedResponse({ url }: OutgoingCall): CallResponse {
  const status = url.pathname.startsWith('/simulator/networks/') ? 503 : 200;
  return { status, headers: {}, body: Buffer.from('') };
}

export async function inject(server: Networks['server'], call: OutgoingCall): Promise<CallResponse> {
  const response = await server.inject({
    method: call.method as 'POST',
    url: call.url.pathname + call.url.search,
    headers: { host: call.url.host, ...call.headers },
    ...(call.body.length > 0 ? { payload: call.body } : {}),
  });
  // The limit of a client that does not read (`server/src/http/server.ts`) runs on where a response is empty.
  clearTimeout((response.raw.res as { timeoutHandle?: NodeJS.Timeout }).timeoutHandle);
  const { 'content-type': type = '', location, 'set-cookie': cookies } = response.headers;
  const headers = {
    ...{ 'content-type': type, ...(typeof location === 'string' ? { location } : {}) },
    ...(cookies === undefined ? {} : { 'set-cookie': [cookies].flat().join('\n') }),
  };
  return { status: response.statusCode, headers, body: response.rawPayload };
}
