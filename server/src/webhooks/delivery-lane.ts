import { addMs } from '../kit/clock.ts';
import type { Database, Statement } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { Sealer } from '../kit/seal.ts';
import type { DeliveryTarget, DueDelivery } from './delivery.ts';
import type { DeliverySlots, Lane } from './delivery-slots.ts';
import { openSecrets } from './endpoint-secret.ts';
import type { SecretsAt } from './endpoint-secret.ts';
import { allowances, quickMs } from './lane-pace.ts';
import type { LanePace, LanePaces, LaneStanding } from './lane-pace.ts';
import type { OutcomeRecorder } from './outcome-recorder.ts';
import { claimRowsMax, putBackDeliveries } from './queries/deliveries.ts';
import type { DeliveryClaim } from './queries/deliveries.ts';
import type { Outcome } from './record-outcomes.ts';
import { sendDelivery } from './send-delivery.ts';
import type { Attempt, Claimed, SendContext } from './send-delivery.ts';

/** What the lanes of a process share. */
export interface LaneContext extends SendContext {
  db: Database;
  log: Log;
  sealer: Sealer;
  slots: DeliverySlots;
  paces: LanePaces;
  recorder: OutcomeRecorder<Outcome>;
}

/** Where a lane gets its deliveries from and where they go, as the last look found it. */
export interface LaneSource {
  target: DeliveryTarget;
  claim: (claim: DeliveryClaim) => Promise<DueDelivery[]>;
  urlOf: (delivery: DueDelivery) => string;
}

/** The time limit of a request and as much again for what comes before and after it. */
const leaseMs = 30_000;
// What was claimed ahead waits this long for its turn, and otherwise goes back: long enough for a lane that answers
// quickly, so short that the lease covers it, and that a change of the endpoint takes effect soon.
const aheadMaxMs = 2_000;
// What we could not even sign (a seal key that is missing) waits for the operator and costs no attempt.
const unsignedWaitMs = 60_000;
// How much is claimed ahead, in multiples of what may be under way. A claim takes two round trips to the database, in which
// a lane that answers in some milliseconds sends what it has several times over.
const aheadPerAllowed = 3;
// With more than that waiting to be written down, the database is what is slow.
const unrecordedMax = 128;

interface Ahead {
  claimed: Claimed;
  secretsAt: SecretsAt;
  claimedAt: Date;
}

/**
 * One lane of a merchant while something is due in it. A lane that answers quickly claims ahead: what is sent next is
 * there when an answer comes. Any other claims only what it has slots for.
 */
export class DeliveryLane {
  readonly #context: LaneContext;
  readonly #lane: Lane;
  readonly #pace: LanePace;
  /** Asks the pump to look for what is due. */
  readonly #wake: () => void;
  readonly #ahead: Ahead[] = [];
  /** When each request began, the oldest first. */
  readonly #underWay = new Map<Claimed, number>();
  /** The standings of slots that were granted while nothing was there to be sent. */
  readonly #granted: LaneStanding[] = [];
  #unrecorded = 0;
  #isWaiting = false;
  #isMoreDue = false;
  #hasAsked = false;
  #isEnded = false;
  #onIdle: () => void = () => {};

  constructor(context: LaneContext, lane: Lane, wake: () => void) {
    this.#context = context;
    this.#lane = lane;
    this.#pace = context.paces.of(lane.key);
    this.#wake = wake;
  }

  /** Whether there is nothing under way, nothing waiting and nothing to be written down. */
  get isIdle(): boolean {
    const isQuiet = this.#underWay.size === 0 && this.#ahead.length === 0 && this.#unrecorded === 0;
    return isQuiet && !this.#isWaiting;
  }

  /** Whether looking for more would be of no use now. When it is again, the lane asks for it. */
  get isFull(): boolean {
    if (this.#isWaiting || this.#unrecorded > unrecordedMax) return true;
    const { allowance, standing } = this.#paceNow();
    if (standing === 'quick') return this.#ahead.length * 2 > allowance * aheadPerAllowed;
    return this.#underWay.size >= allowance;
  }

  /** There may be more to send than has been claimed. */
  noteMoreDue(): void {
    this.#isMoreDue = true;
  }

  /** A look has found nothing for this lane. */
  noteNothingDue(): void {
    this.#hasAsked = false;
    this.#isMoreDue = false;
    if (this.#ahead.length === 0) this.#stopWaiting();
    this.#releaseGranted();
    if (this.isIdle) this.#pace.rest();
  }

  /** Claims what there is room for and sends it. */
  async claim(source: LaneSource, now: Date): Promise<void> {
    this.#isMoreDue = true;
    try {
      this.#startAhead();
      if (!this.isFull) await this.#claimRows(source, now);
    } finally {
      this.#hasAsked = false;
      this.#releaseGranted();
    }
    this.#askForMore();
  }

  /** Gives back what has waited too long for its turn. */
  async putBackStale(now: Date): Promise<void> {
    const stale = this.#ahead.filter((ahead) => this.#isStale(ahead, now));
    if (stale.length === 0) return;
    const fresh = this.#ahead.filter((ahead) => !this.#isStale(ahead, now));
    this.#ahead.splice(0, Infinity, ...fresh);
    const unsent = stale.map(({ claimed }) => claimed.delivery);
    await this.#tryStatement('a claim could not be put back', putBackDeliveries(this.#lane.merchantId, unsent, now));
  }

  /** Sends nothing more. Resolves when what was under way is written down. */
  async end(): Promise<void> {
    this.#isEnded = true;
    this.#stopWaiting();
    this.#releaseGranted();
    await this.putBackStale(this.#context.clock.now());
    if (this.isIdle) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onIdle = resolve;
    await promise;
  }

  async #claimRows({ target, claim, urlOf }: LaneSource, now: Date): Promise<void> {
    const { allowance, standing } = this.#paceNow();
    const { slots, sealer } = this.#context;
    for (let count = slots.reserve(this.#lane, standing, this.#wantedSlots(allowance)); count > 0; count -= 1) {
      this.#granted.push(standing);
    }
    // Without a slot it is claimed only where those under way will soon be free.
    const mayClaimAhead = standing === 'quick' && this.#granted.length + this.#underWay.size > 0;
    const aheadCount = mayClaimAhead ? Math.max(0, allowance * aheadPerAllowed - this.#ahead.length) : 0;
    const rowsMax = Math.min(claimRowsMax, this.#granted.length + aheadCount);
    if (rowsMax === 0) {
      this.#waitForSlot(standing);
      return;
    }
    this.#isMoreDue = false;
    const leaseEndsAt = addMs(now, leaseMs);
    const claimed = await claim({ merchantId: this.#lane.merchantId, now, leaseEndsAt, rowsMax });
    if (claimed.length === rowsMax) this.#isMoreDue = true;
    const secretsAt = openSecrets(sealer, target);
    // Not `now`: a database that is slow must not make all it gives too old to be sent.
    const claimedAt = this.#context.clock.now();
    for (const delivery of claimed) {
      this.#ahead.push({ claimed: { target, delivery, url: urlOf(delivery) }, secretsAt, claimedAt });
    }
    this.#startAhead();
  }

  #wantedSlots(allowance: number): number {
    return allowance - this.#underWay.size - this.#granted.length;
  }

  /** Sends what was claimed, as far as there are slots for it. */
  #startAhead(): void {
    for (let [next] = this.#ahead; next !== undefined; [next] = this.#ahead) {
      const { allowance, standing } = this.#paceNow();
      if (this.#isStale(next, this.#context.clock.now())) {
        // The pump puts it back.
        this.#wake();
        return;
      }
      if (this.#underWay.size >= allowance) return;
      const granted = this.#granted.pop();
      if (granted === undefined && this.#context.slots.reserve(this.#lane, standing, 1) === 0) {
        this.#waitForSlot(standing);
        return;
      }
      this.#ahead.shift();
      void this.#send(next, granted ?? standing);
    }
  }

  async #send({ claimed, secretsAt }: Ahead, slot: LaneStanding): Promise<void> {
    const { slots, clock, recorder } = this.#context;
    const { delivery, target } = claimed;
    this.#underWay.set(claimed, clock.now().getTime());
    const attempt = await sendDelivery(this.#context, claimed, secretsAt).catch((error: unknown) => {
      const fields = { merchant_id: target.merchantId, endpoint_id: target.id, delivery_id: delivery.id };
      this.#context.log.error('a webhook could not be signed', error, fields);
    });
    if (attempt) this.#notePace(attempt);
    this.#underWay.delete(claimed);
    this.#unrecorded += 1;
    slots.release(this.#lane, slot, 1);
    this.#startAhead();
    this.#askForMore();
    if (attempt) await recorder.record({ merchantId: target.merchantId, claimed, attempt });
    else await this.#postpone(delivery);
    this.#unrecorded -= 1;
    this.#askForMore();
    if (!this.isIdle) return;
    this.#onIdle();
    this.#wake();
  }

  #notePace({ result }: Attempt): void {
    const isBacklog = this.#ahead.length > 0 || this.#isMoreDue;
    const atLimit = isBacklog && this.#underWay.size >= this.#pace.allowance;
    this.#pace.note({ durationMs: result.durationMs, answered: result.kind === 'answered', atLimit });
  }

  async #postpone(delivery: DueDelivery): Promise<void> {
    const dueAt = addMs(this.#context.clock.now(), unsignedWaitMs);
    const statement = putBackDeliveries(this.#lane.merchantId, [delivery], dueAt);
    await this.#tryStatement('a webhook that could not be signed could not be put off', statement);
  }

  /** What could not be put back comes back when its lease ends. */
  async #tryStatement(message: string, statement: Statement): Promise<void> {
    const { db, log } = this.#context;
    const { merchantId } = this.#lane;
    await db.run(statement).catch((error: unknown) => log.error(message, error, { merchant_id: merchantId }));
  }

  #waitForSlot(standing: LaneStanding): void {
    if (this.#isWaiting || this.#isEnded) return;
    this.#isWaiting = true;
    this.#context.slots.wait(this.#lane, standing, () => {
      this.#isWaiting = false;
      this.#granted.push(standing);
      this.#startAhead();
      // It was for what had been claimed, or is for what a look will find.
      if (this.#granted.length === 0) return;
      this.#hasAsked = true;
      this.#wake();
    });
  }

  #stopWaiting(): void {
    this.#isWaiting = false;
    this.#context.slots.stopWaiting(this.#lane);
  }

  #releaseGranted(): void {
    for (const standing of this.#granted.splice(0)) this.#context.slots.release(this.#lane, standing, 1);
  }

  #askForMore(): void {
    if (!this.#isMoreDue || this.#hasAsked || this.#isEnded || this.isFull) return;
    this.#hasAsked = true;
    this.#wake();
  }

  #isStale({ claimedAt }: Ahead, now: Date): boolean {
    const ageMs = now.getTime() - claimedAt.getTime();
    // A clock that was set back must not keep a claim for longer than its lease.
    return this.#isEnded || ageMs < 0 || ageMs > aheadMaxMs;
  }

  /** A lane in which a request has waited for long is slow before anybody knows how that one ends. */
  #paceNow(): { allowance: number; standing: LaneStanding } {
    const { allowance, standing } = this.#pace;
    const [oldestMs] = this.#underWay.values();
    const isHanging = oldestMs !== undefined && this.#context.clock.now().getTime() - oldestMs > quickMs;
    if (standing === 'slow' || !isHanging) return { allowance, standing };
    return { allowance: Math.min(allowance, allowances.first), standing: 'slow' };
  }
}
