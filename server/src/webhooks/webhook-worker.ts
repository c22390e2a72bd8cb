import type { Work } from '../events/outbox.ts';
import { DeliveryPump } from './delivery-pump.ts';
import { DeliverySlots } from './delivery-slots.ts';
import type { SlotLimits } from './delivery-slots.ts';
import { dispatchDueEvents, dispatchEvent } from './dispatch-event.ts';
import type { DispatchContext } from './dispatch-event.ts';
import { FailureLog } from './failure-log.ts';
import { listMerchantsWithDueDeliveries } from './queries.ts';
import type { SendContext } from './send-delivery.ts';

export interface WebhookWorkerContext extends Omit<SendContext, 'failures'>, DispatchContext {
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
   * Sends what is due for the merchant; resolves when nothing is due and nothing under way. Called again meanwhile it
   * looks again at once. Rejects only when the database does, and what was claimed comes back by itself.
   */
  deliver(merchantId: string): Promise<void>;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

// A request under way costs a socket and a few kilobytes, no connection to the database; 64 of them keep a process busy
// with receivers that answer in 100 ms at 640 a second. What one endpoint and one merchant may have of them leaves room
// for others when theirs hang.
const slotsDefault: SlotLimits = { total: 64, perMerchant: 16, perLane: 8 };

export function createWebhookWorker(context: WebhookWorkerContext): WebhookWorker {
  const slots = new DeliverySlots(context.slots ?? slotsDefault);
  const sending: SendContext = { ...context, failures: new FailureLog(context) };
  const pumps = new Map<string, DeliveryPump>();
  let isStopped = false;
  const wakeDelivery = (merchantId: string): void => {
    const pump = pumps.get(merchantId);
    // A pump that runs here needs no hint through the database.
    if (pump) pump.nudge();
    else context.wakeDelivery(merchantId);
  };
  const startPump = (merchantId: string): Promise<void> => {
    const onEnd = (): void => {
      pumps.delete(merchantId);
    };
    const pump = new DeliveryPump(sending, slots, { merchantId, stopped: () => isStopped, onEnd });
    pumps.set(merchantId, pump);
    return pump.done;
  };
  return {
    dispatch: (work) => dispatchEvent({ ...context, wakeDelivery }, work),
    dispatchDue: (merchantId) => dispatchDueEvents({ ...context, wakeDelivery }, merchantId),
    listDueMerchants: () => listMerchantsWithDueDeliveries(context.db, context.clock.now()),
    deliver: async (merchantId) => {
      if (isStopped) return;
      const pump = pumps.get(merchantId);
      pump?.nudge();
      await (pump ? pump.done : startPump(merchantId));
    },
    stop: async () => {
      isStopped = true;
      const running = [...pumps.values()];
      for (const pump of running) pump.nudge();
      await Promise.allSettled(running.map((pump) => pump.done));
    },
  };
}
