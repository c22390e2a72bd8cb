import type { LaneStanding } from './lane-pace.ts';

export interface SlotLimits {
  /** Requests under way in all. */
  total: number;
  /** Of lanes that are slow, of all merchants together. */
  slow: number;
  /** Of lanes that have not answered yet. */
  unproven: number;
  /** Of one merchant's lanes. */
  perMerchant: number;
  /** Of those of one merchant that are slow or unproven. */
  perMerchantUnsure: number;
}

/** What is sent one behind the other: an endpoint's own URL, or a merchant's callback addresses. */
export interface Lane {
  merchantId: string;
  /** Differs from every other lane's. */
  key: string;
}

interface Waiting {
  lane: Lane;
  granted: () => void;
}

/**
 * How many requests may be under way. Lanes that keep us waiting share a part of all slots, and lanes that nobody knows
 * yet another, so that lanes that answer always find room, however many receivers hang. Whoever has found none waits in a
 * row with those of all merchants, and what is released goes to the first who may have it.
 */
export class DeliverySlots {
  readonly #limits: SlotLimits;
  readonly #taken = new Map<string, number>();
  readonly #waiting = new Map<LaneStanding, Map<string, Waiting>>([
    ['quick', new Map()],
    ['unproven', new Map()],
    ['slow', new Map()],
  ]);

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  /** Takes as many as are free, at most `wanted`. Answers how many. */
  reserve(lane: Lane, standing: LaneStanding, wanted: number): number {
    const count = Math.max(0, Math.min(wanted, this.#room(lane, standing)));
    if (count > 0) this.#add(lane, standing, count);
    return count;
  }

  /** Takes the standing with which they were reserved. */
  release(lane: Lane, standing: LaneStanding, count: number): void {
    if (count === 0) return;
    this.#add(lane, standing, -count);
    let left = count;
    for (const [waitingStanding, row] of this.#waiting) {
      for (const waiting of row.values()) {
        // Nobody in this row may have one, so nobody is asked: it can be as long as there are endpoints that hang.
        if (left === 0 || this.#roomOf(waitingStanding) <= 0) break;
        if (this.reserve(waiting.lane, waitingStanding, 1) === 0) continue;
        left -= 1;
        row.delete(waiting.lane.key);
        waiting.granted();
      }
    }
  }

  /** Calls `granted` once, when a slot has been reserved for the lane, which waits behind those that came before it. */
  wait(lane: Lane, standing: LaneStanding, granted: () => void): void {
    this.stopWaiting(lane);
    this.#waiting.get(standing)?.set(lane.key, { lane, granted });
  }

  stopWaiting(lane: Lane): void {
    for (const row of this.#waiting.values()) row.delete(lane.key);
  }

  #room({ merchantId }: Lane, standing: LaneStanding): number {
    const { perMerchant, perMerchantUnsure } = this.#limits;
    const room = Math.min(this.#roomOf(standing), perMerchant - this.#count(merchantId));
    return standing === 'quick' ? room : Math.min(room, perMerchantUnsure - this.#count(unsureOf(merchantId)));
  }

  #roomOf(standing: LaneStanding): number {
    const { total } = this.#limits;
    const room = total - this.#count(all);
    return standing === 'quick' ? room : Math.min(room, this.#limits[standing] - this.#count(standing));
  }

  #count(key: string): number {
    return this.#taken.get(key) ?? 0;
  }

  #add({ merchantId }: Lane, standing: LaneStanding, count: number): void {
    const keys = [all, merchantId, ...(standing === 'quick' ? [] : [standing, unsureOf(merchantId)])];
    for (const key of keys) {
      const taken = this.#count(key) + count;
      if (taken === 0) this.#taken.delete(key);
      else this.#taken.set(key, taken);
    }
  }
}

const all = 'all';

function unsureOf(merchantId: string): string {
  return `${merchantId} unsure`;
}
