import { addMs } from '../kit/clock.ts';
import type { DeliveryTarget, DueDelivery } from './delivery.ts';
import type { DeliverySlots, Lane } from './delivery-slots.ts';
import { claimCallbackDeliveries, claimOwnDeliveries, keepPendingDeliveries, listDueTargets } from './queries.ts';
import type { DeliveryClaim } from './queries.ts';
import { sendDelivery } from './send-delivery.ts';
import type { SendContext } from './send-delivery.ts';

// The time limit of a request and as much again for what comes before and after it.
const leaseMs = 30_000;
// What another process dispatched while requests of this one are under way is found this soon.
const pollEveryMs = 1_000;

/**
 * Sends what is due for one merchant until nothing is. Events that become due meanwhile are taken at once into slots
 * that are free: a receiver that hangs delays only what goes to itself.
 */
export class DeliveryPump {
  readonly done: Promise<void>;
  readonly #context: SendContext;
  readonly #slots: DeliverySlots;
  readonly #merchantId: string;
  readonly #stopped: () => boolean;
  readonly #underWay = new Set<Promise<void>>();
  /** Somebody asked for another look since the last one began. */
  #isWanted = false;
  #wake: () => void = () => {};

  /** `onEnd` is called in the very moment in which the pump will not look again. */
  constructor(
    context: SendContext,
    slots: DeliverySlots,
    options: { merchantId: string; stopped: () => boolean; onEnd: () => void },
  ) {
    this.#context = context;
    this.#slots = slots;
    this.#merchantId = options.merchantId;
    this.#stopped = options.stopped;
    this.done = this.#run(options.onEnd);
  }

  nudge(): void {
    this.#isWanted = true;
    this.#wake();
  }

  async #run(onEnd: () => void): Promise<void> {
    try {
      for (;;) {
        this.#isWanted = false;
        const isMoreDue = !this.#stopped() && (await this.#claimDue());
        if (this.#underWay.size === 0 && !isMoreDue && !this.#isWanted) return;
        await this.#untilThereIsReason(isMoreDue);
      }
    } finally {
      onEnd();
      await Promise.all(this.#underWay);
    }
  }

  /** With more due than there were slots for, any that becomes free is a reason to look again. */
  async #untilThereIsReason(isMoreDue: boolean): Promise<void> {
    const nudged = Promise.withResolvers<void>();
    this.#wake = nudged.resolve;
    if (this.#isWanted) return;
    const ended = new AbortController();
    const { signal } = ended;
    const reasons = [nudged.promise, this.#context.clock.sleep(pollEveryMs, signal)];
    if (isMoreDue) await Promise.race([...reasons, ...this.#underWay, this.#slots.untilReleased(signal)]);
    else await Promise.race([...reasons, Promise.all(this.#underWay)]);
    ended.abort();
  }

  /** Answers whether more may be due than was taken. */
  async #claimDue(): Promise<boolean> {
    const now = this.#context.clock.now();
    const targets = await listDueTargets(this.#context.db, this.#merchantId, now);
    const claims = targets.flatMap((target) => [
      ...(target.ownDue ? [this.#claimOwn(target, now)] : []),
      ...(target.callbackDue ? [this.#claimCallbacks(target, now)] : []),
    ]);
    // All of them first: what one claimed is under way even when another failed.
    const outcomes = await Promise.allSettled(claims);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
    return outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
  }

  async #claimOwn(target: DeliveryTarget, now: Date): Promise<boolean> {
    const { url } = target;
    if (url === null || target.status !== 'enabled' || target.deleted) {
      // What was left over when the endpoint was switched off.
      return (await keepPendingDeliveries(this.#context.db, target)) > 0;
    }
    return this.#claimLane(target, now, {
      lane: { merchantId: this.#merchantId, key: target.id },
      claim: (claim) => claimOwnDeliveries(this.#context.db, target.id, claim),
      urlOf: () => url,
    });
  }

  #claimCallbacks(target: DeliveryTarget, now: Date): Promise<boolean> {
    return this.#claimLane(target, now, {
      lane: { merchantId: this.#merchantId, key: `${this.#merchantId} callbacks` },
      claim: (claim) => claimCallbackDeliveries(this.#context.db, claim),
      urlOf: (delivery) => delivery.callbackUrl ?? '',
    });
  }

  /** Slots come first, so that nothing is claimed that would have to wait: a lease covers the request and no queue. */
  async #claimLane(
    target: DeliveryTarget,
    now: Date,
    from: {
      lane: Lane;
      claim: (claim: DeliveryClaim) => Promise<DueDelivery[]>;
      urlOf: (delivery: DueDelivery) => string;
    },
  ): Promise<boolean> {
    const reserved = this.#slots.reserve(from.lane);
    if (reserved === 0) return true;
    let started = 0;
    try {
      const leaseEndsAt = addMs(now, leaseMs);
      const claimed = await from.claim({ merchantId: this.#merchantId, now, leaseEndsAt, rowsMax: reserved });
      for (const delivery of claimed) this.#start(from.lane, target, delivery, from.urlOf(delivery));
      started = claimed.length;
    } finally {
      this.#slots.release(from.lane, reserved - started);
    }
    return started === reserved;
  }

  #start(lane: Lane, target: DeliveryTarget, delivery: DueDelivery, url: string): void {
    const sending = sendDelivery(this.#context, { target, delivery, url }).finally(() => {
      this.#underWay.delete(sending);
      this.#slots.release(lane, 1);
    });
    this.#underWay.add(sending);
  }
}
