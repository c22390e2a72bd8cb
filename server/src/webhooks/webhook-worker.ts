import type { Work } from '../events/outbox.ts';
import type { LaneContext } from './delivery-lane.ts';
import { DeliveryPump } from './delivery-pump.ts';
import { DeliverySlots } from './delivery-slots.ts';
import type { SlotLimits } from './delivery-slots.ts';
import { dispatchDueEvents, dispatchEvent } from './dispatch-event.ts';
import type { DispatchContext } from './dispatch-event.ts';
import { FailureLog } from './failure-log.ts';
import { HealthNotes } from './health-notes.ts';
import { LanePaces } from './lane-pace.ts';
import { OutcomeRecorder } from './outcome-recorder.ts';
import { listMerchantsWithDueDeliveries } from './queries/deliveries.ts';
import { recordOutcomes } from './record-outcomes.ts';
import type { Outcome, RecordContext } from './record-outcomes.ts';

export interface WebhookWorkerContext
  extends Omit<LaneContext, 'slots' | 'paces' | 'recorder'>, Omit<RecordContext, 'failures' | 'health'> {
  /** Called after the commit when something is due to be sent. */
  wakeDelivery: (merchantId: string) => void;
  slots?: SlotLimits;
}

/** What a worker process does for webhooks; when to do it is the caller's. Several processes can work side by side. */
export interface WebhookWorker {
  /** Does one piece of the outbox's work `dispatch_event`. */
  dispatch(work: Work): Promise<void>;
  /** Does what is due of it for the merchant, a batch at a time. Answers whether more may be due. */
  dispatchDue(merchantId: string): Promise<boolean>;
  /** The merchants for whom `deliver` has something to do now. */
  listDueMerchants(): Promise<string[]>;
  /**
   * Sends what is due for the merchant; resolves when nothing is due and nothing under way. Rejects only when the
   * database does, and what was claimed comes back by itself.
   */
  deliver(merchantId: string): Promise<void>;
  /**
   * There is more for a merchant to whom `deliver` is sending: it looks again at once. Waits for nothing, because where a
   * receiver hangs that sending goes on for days, and each sweep comes here.
   */
  nudge(merchantId: string): void;
  /** Hands over how `deliver` is begun in this process: what was dispatched here needs no hint through the database. */
  attach(begin: (merchantId: string) => void): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

// A request under way costs a socket and some kilobytes, no connection to the database. Half of them are for lanes that
// answer quickly: as many merchants have to hang at once as half the slots have lanes, before anybody waits for a slot
// who was not known as slow.
const slotsDefault: SlotLimits = { total: 256, slow: 64, unproven: 64, perMerchant: 64, perMerchantUnsure: 16 };

export function createWebhookWorker(context: WebhookWorkerContext): WebhookWorker {
  const recording = { ...context, failures: new FailureLog(context), health: new HealthNotes(context) };
  const lanes: LaneContext = {
    ...context,
    slots: new DeliverySlots(context.slots ?? slotsDefault),
    paces: new LanePaces(),
    recorder: new OutcomeRecorder<Outcome>((merchantId, outcomes) => recordOutcomes(recording, merchantId, outcomes)),
  };
  const pumps = new Map<string, DeliveryPump>();
  let isStopped = false;
  let begin: ((merchantId: string) => void) | null = null;
  const wakeDelivery: DispatchContext['wakeDelivery'] = (merchantId, laneKeys) => {
    const pump = pumps.get(merchantId);
    if (pump) pump.nudgeLanes(laneKeys);
    else if (begin && !isStopped) begin(merchantId);
    else context.wakeDelivery(merchantId);
  };
  const startPump = (merchantId: string): Promise<void> => {
    const pump = new DeliveryPump(lanes, merchantId, () => pumps.delete(merchantId));
    pumps.set(merchantId, pump);
    return pump.done;
  };
  return {
    dispatch: (work) => dispatchEvent({ ...context, wakeDelivery }, work),
    dispatchDue: (merchantId) => dispatchDueEvents({ ...context, wakeDelivery }, merchantId),
    listDueMerchants: () => listMerchantsWithDueDeliveries(context.db, context.clock.now()),
    deliver: async (merchantId) => {
      if (!isStopped) await (pumps.get(merchantId)?.done ?? startPump(merchantId));
    },
    nudge: (merchantId) => pumps.get(merchantId)?.nudge(),
    attach: (given) => {
      begin = given;
    },
    stop: async () => {
      isStopped = true;
      const running = [...pumps.values()];
      for (const pump of running) pump.stop();
      await Promise.allSettled(running.map((pump) => pump.done));
    },
  };
}
