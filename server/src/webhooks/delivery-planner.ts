import type { EventToDeliver } from '../events/event.ts';
import { completeWorkWith, enqueue } from '../events/outbox.ts';
import type { WorkContext } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { firstIdAt } from '../kit/ids.ts';
import { endpointQueueKey } from './delivery.ts';
import type { Endpoint } from './endpoint.ts';
import { planDeliveries } from './plan-deliveries.ts';
import { insertDeliveryOnce, listEventsToDeliver, listPlannedAddresses } from './queries/deliveries.ts';
import type { DeliveryAddress } from './queries/deliveries.ts';
import { listEndpointsToPlan } from './queries/endpoints.ts';

// How long a process plans by what it has read, where the hint of a change was lost.
const endpointsKnownForMs = 3_000;
const entriesMax = 10_000;
// Longer than that, with the longest transaction that may have planned by it (kit/db.ts).
const replanMs = 15_000;
// Some milliseconds of statements: short enough for one transaction.
const replannedMax = 100;

interface PlannerContext extends WorkContext {
  /** Called after the commit with the endpoint queues in which deliveries are due. */
  scheduleDeliveries: (keys: readonly string[]) => void;
  /** Called after the commit of a change of a merchant's endpoints, for the planners of all processes: `forget`. */
  notifyEndpoints: (merchantId: string) => void;
}

/** For a command, which notifies nobody: services find by themselves what is due, and read endpoints again within seconds. */
export function createCommandPlanner(context: Pick<WorkContext, 'clock' | 'newId'>): DeliveryPlanner {
  const notifyNobody = () => {};
  return new DeliveryPlanner({
    ...context,
    ...{ notifyWorker: notifyNobody, scheduleDeliveries: notifyNobody, notifyEndpoints: notifyNobody },
  });
}

/**
 * Writes the deliveries of events in the transactions that write the events. The endpoints are read from a copy, which may be
 * seconds old; so a change of endpoints also writes the work of planning once more, later, what was written around it.
 */
export class DeliveryPlanner {
  readonly #context: PlannerContext;
  readonly #endpoints: ExpiringCache<readonly Endpoint[]>;
  readonly #events = new WeakMap<Transaction, EventToDeliver[]>();
  /** Transactions that have changed endpoints, which plan by what they have written. */
  readonly #changing = new WeakSet<Transaction>();

  constructor(context: PlannerContext) {
    this.#context = context;
    this.#endpoints = new ExpiringCache({ clock: context.clock, entriesMax, lifetimeMs: endpointsKnownForMs });
  }

  /** Writes an event's deliveries at the end of its transaction, and schedules them after the commit. */
  plan(tx: Transaction, event: EventToDeliver): void {
    const before = this.#events.get(tx);
    if (before) {
      before.push(event);
      return;
    }
    const events = [event];
    this.#events.set(tx, events);
    tx.beforeCommit(async (last) => {
      for (const [merchantId, own] of Map.groupBy(events, (each) => each.merchantId)) {
        this.#write(last, own, await this.#endpointsOf(last, merchantId, this.#changing.has(tx)));
      }
    });
  }

  /** Call it in every transaction that changes what `planDeliveries` reads of a merchant's endpoints. */
  endpointsChanged(tx: Transaction, merchantId: string): void {
    const { clock, newId, notifyEndpoints } = this.#context;
    this.#changing.add(tx);
    const dueAt = addMs(clock.now(), replanMs);
    enqueue(tx, this.#context, { merchantId, queue: 'webhooks', kind: 'plan_deliveries', subjectId: newId(), dueAt });
    tx.afterCommit(() => notifyEndpoints(merchantId));
  }

  /** The merchant's endpoints are read again. */
  forget(merchantId: string): void {
    this.#endpoints.forget(merchantId);
  }

  /** Plans the events that were written since shortly before a change of endpoints. What is planned already stays as it is. */
  async replan(db: Database, work: Work): Promise<void> {
    const { merchantId, createdAt } = work;
    let after = firstIdAt(addMs(createdAt, -replanMs));
    for (let isMore = true; isMore;) {
      const events = await db.withTransaction(async (tx) => {
        const page = await listEventsToDeliver(tx, merchantId, { after, rowsMax: replannedMax });
        const last = page.at(-1)?.id ?? after;
        // Nearly all are planned already: reading that is a fraction of writing each once more.
        const planned = await listPlannedAddresses(tx, merchantId, { after, last });
        this.#write(tx, page, await listEndpointsToPlan(tx, merchantId), new Set(planned.map(addressKey)));
        if (page.length < replannedMax) completeWorkWith(tx, work);
        return page;
      });
      isMore = events.length === replannedMax;
      after = events.at(-1)?.id ?? after;
    }
  }

  async #endpointsOf(tx: Transaction, merchantId: string, isChanging: boolean): Promise<readonly Endpoint[]> {
    const read = () => listEndpointsToPlan(tx, merchantId);
    return (isChanging ? await read() : await this.#endpoints.get(merchantId, read)) ?? [];
  }

  #write(
    tx: Transaction,
    events: readonly EventToDeliver[],
    endpoints: readonly Endpoint[],
    planned: ReadonlySet<string> = new Set(),
  ): void {
    const { clock, newId, scheduleDeliveries } = this.#context;
    const createdAt = clock.now();
    const keys = new Set<string>();
    for (const { merchantId, id: eventId, kind, callbackUrl } of events) {
      for (const delivery of planDeliveries({ kind, callbackUrl }, endpoints)) {
        const address = { eventId, endpointId: delivery.endpointId, isOwnUrl: delivery.callbackUrl === null };
        if (planned.has(addressKey(address))) continue;
        const isPending = delivery.status === 'pending';
        if (isPending) keys.add(endpointQueueKey({ ...delivery, merchantId }));
        const nextAttemptAt = isPending ? createdAt : null;
        tx.send(insertDeliveryOnce({ ...delivery, merchantId, id: newId(), eventId, nextAttemptAt, createdAt }));
      }
    }
    if (keys.size > 0) tx.afterCommit(() => scheduleDeliveries([...keys]));
  }
}

function addressKey({ eventId, endpointId, isOwnUrl }: DeliveryAddress): string {
  return `${eventId} ${endpointId} ${isOwnUrl}`;
}
