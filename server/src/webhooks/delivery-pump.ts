import { callbackLaneKey } from './delivery.ts';
import type { DeliveryTarget } from './delivery.ts';
import { DeliveryLane } from './delivery-lane.ts';
import type { LaneContext, LaneSource } from './delivery-lane.ts';
import {
  claimCallbackDeliveries,
  claimOwnDeliveries,
  keepPendingDeliveries,
  listDueTargets,
} from './queries/deliveries.ts';

// What another process dispatched while requests of this one are under way is found this soon.
const pollEveryMs = 1_000;
// The same where that process has said so while a lane was full: with 200 events a second each would cost a look.
const hintGapMs = 50;

/**
 * Sends what is due for one merchant until nothing is. Events that become due meanwhile are taken at once where there is
 * room: a receiver that hangs delays only what goes to itself.
 */
export class DeliveryPump {
  readonly done: Promise<void>;
  readonly #context: LaneContext;
  readonly #merchantId: string;
  readonly #lanes = new Map<string, DeliveryLane>();
  /** Somebody asked for another look since the last one began. */
  #isWanted = false;
  #isWantedSoon = false;
  #isStopped = false;
  #wakeUp: () => void = () => {};

  /** `onEnd` is called in the very moment in which the pump will not look again. */
  constructor(context: LaneContext, merchantId: string, onEnd: () => void) {
    this.#context = context;
    this.#merchantId = merchantId;
    this.done = this.#run(onEnd);
  }

  /** Something became due, as another process says, or a sweep. */
  nudge(): void {
    const isAnyFull = [...this.#lanes.values()].some((lane) => lane.isFull);
    if (!isAnyFull) this.#wake();
    else if (!this.#isWantedSoon) {
      this.#isWantedSoon = true;
      void this.#context.clock.sleep(hintGapMs).then(() => {
        this.#isWantedSoon = false;
        this.#wake();
      });
    }
  }

  /** Something became due in these lanes. Those that are full look by themselves when they have room. */
  nudgeLanes(keys: readonly string[]): void {
    let hasRoom = false;
    for (const key of keys) {
      const lane = this.#lanes.get(key);
      lane?.noteMoreDue();
      hasRoom ||= lane === undefined || !lane.isFull;
    }
    if (hasRoom) this.#wake();
  }

  /** Takes nothing new; what is under way is ended. */
  stop(): void {
    this.#isStopped = true;
    this.#wake();
  }

  #wake(): void {
    this.#isWanted = true;
    this.#wakeUp();
  }

  async #run(onEnd: () => void): Promise<void> {
    try {
      while (!this.#isStopped) {
        this.#isWanted = false;
        const hasMoreToKeep = await this.#look();
        if (hasMoreToKeep || this.#isWanted) continue;
        if ([...this.#lanes.values()].every((lane) => lane.isIdle)) return;
        await this.#untilWanted();
      }
    } finally {
      onEnd();
      await Promise.all([...this.#lanes.values()].map((lane) => lane.end()));
    }
  }

  async #untilWanted(): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wakeUp = woken.resolve;
    const ended = new AbortController();
    await Promise.race([woken.promise, this.#context.clock.sleep(pollEveryMs, ended.signal)]);
    ended.abort();
  }

  /** Answers whether more is left over of endpoints that are off. */
  async #look(): Promise<boolean> {
    const now = this.#context.clock.now();
    await Promise.all([...this.#lanes.values()].map((lane) => lane.putBackStale(now)));
    const targets = await listDueTargets(this.#context.db, this.#merchantId, now);
    const sources = new Map(targets.flatMap((target) => this.#sourcesOf(target)));
    for (const [key, lane] of this.#lanes) if (!sources.has(key)) lane.noteNothingDue();
    const claims = [...sources].map(([key, source]) => this.#laneOf(key).claim(source, now));
    const keeping = targets.filter((target) => target.ownDue && !isReceiving(target));
    const keeps = keeping.map((target) => keepPendingDeliveries(this.#context.db, target));
    // All of them first: what one claimed is under way even when another failed.
    const outcomes = await Promise.allSettled([...keeps, ...claims]);
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason as Error;
    return (await Promise.all(keeps)).some((count) => count > 0);
  }

  /** The lanes in which something is due for this endpoint, and how it is claimed. */
  #sourcesOf(target: DeliveryTarget): [string, LaneSource][] {
    const { db } = this.#context;
    const { merchantId, id, url } = target;
    const sources: [string, LaneSource][] = [];
    if (target.ownDue && isReceiving(target)) {
      const claim: LaneSource['claim'] = (wanted) => claimOwnDeliveries(db, id, wanted);
      sources.push([id, { target, claim, urlOf: () => url ?? '' }]);
    }
    if (target.callbackDue) {
      const claim: LaneSource['claim'] = (wanted) => claimCallbackDeliveries(db, wanted);
      const urlOf: LaneSource['urlOf'] = (delivery) => delivery.callbackUrl ?? '';
      sources.push([callbackLaneKey(merchantId), { target, claim, urlOf }]);
    }
    return sources;
  }

  #laneOf(key: string): DeliveryLane {
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane = new DeliveryLane(this.#context, { merchantId: this.#merchantId, key }, () => this.#wake());
    this.#lanes.set(key, lane);
    return lane;
  }
}

/** Whether events go to its URL; what was left over when it was switched off is kept. */
function isReceiving({ url, status, deleted }: DeliveryTarget): boolean {
  return url !== null && status === 'enabled' && !deleted;
}
