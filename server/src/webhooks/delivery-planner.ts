import type { EventToDeliver, WrittenEvent } from '../events/event.ts';
import { completeWorkWith, enqueue, type WorkContext } from '../events/outbox.ts';
import type { Work } from '../events/work.ts';
import { addMs } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import { ExpiringCache } from '../kit/expiring-cache.ts';
import { firstIdAt } from '../kit/ids.ts';
import { deliveryLeaseMs, endpointQueueKey, type DeliveryStatus } from './delivery.ts';
import type { EndpointToPlan } from './endpoint.ts';
import { planDeliveries, type StatusOfWritten } from './plan-deliveries.ts';
import {
  insertDeliveryOnce,
  listEventsToDeliver,
  listPlannedAddresses,
  type DeliveryAddress,
} from './queries/deliveries.ts';
import { listEndpointsToPlan } from './queries/endpoints.ts';
import { upsertResends } from './queries/resends.ts';

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

/** A delivery that was written as claimed, with what its first attempt needs. */
export interface WrittenDelivery {
  id: string;
  endpoint: EndpointToPlan;
  event: WrittenEvent;
}

/**
 * Makes the first attempts of deliveries from memory. They are written as claimed, so that another process makes the attempt
 * after the lease if this one dies before.
 */
export interface FirstAttempts {
  /** How many more an endpoint queue can take: none while it has a backlog, which is older. */
  room(key: string): number;
  /** Called after the commit. What gets no permit soon is put back, as other claims are. */
  send(key: string, deliveries: readonly WrittenDelivery[]): void;
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
  readonly #endpoints: ExpiringCache<readonly EndpointToPlan[]>;
  readonly #events = new WeakMap<Transaction, WrittenEvent[]>();
  /** Transactions that have changed endpoints, which plan by what they have written. */
  readonly #changing = new WeakSet<Transaction>();
  /** Null where no worker runs, so that another process sends them. */
  #firstAttempts: FirstAttempts | null = null;

  constructor(context: PlannerContext) {
    this.#context = context;
    this.#endpoints = new ExpiringCache({ clock: context.clock, entriesMax, lifetimeMs: endpointsKnownForMs });
  }

  /** Writes an event's deliveries at the end of its transaction, and schedules them after the commit. */
  plan(tx: Transaction, event: WrittenEvent): void {
    const before = this.#events.get(tx);
    if (before) {
      before.push(event);
      return;
    }
    const events = [event];
    this.#events.set(tx, events);
    tx.beforeCommit(async (last) => {
      for (const [merchantId, own] of Map.groupBy(events, (each) => each.merchantId)) {
        const endpoints = await this.#endpointsOf(last, merchantId, this.#changing.has(tx));
        this.#write(last, own, { endpoints, firstAttempts: this.#firstAttempts });
      }
    });
  }

  /** From now on this makes first attempts. */
  sendFirstBy(firstAttempts: FirstAttempts): void {
    this.#firstAttempts = firstAttempts;
  }

  /** Call it in every transaction that changes a merchant's endpoints: by a copy of them events are planned, signed and sent. */
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

  /**
   * Plans the events that were written since shortly before a change of endpoints. What is planned already stays as it is, but for
   * what a process has kept that did not know yet that the endpoint is enabled again.
   */
  async replan(db: Database, work: Work): Promise<void> {
    const { merchantId, createdAt } = work;
    let after = firstIdAt(addMs(createdAt, -replanMs));
    for (let isMore = true; isMore;) {
      const events = await db.withTransaction(async (tx) => {
        const page = await listEventsToDeliver(tx, merchantId, { after, rowsMax: replannedMax });
        const last = page.at(-1)?.id ?? after;
        // Nearly all are planned already: reading that is a fraction of writing each once more.
        const planned = await listPlannedAddresses(tx, merchantId, { after, last });
        const endpoints = await listEndpointsToPlan(tx, merchantId);
        const statuses = new Map(planned.map((each) => [addressKey(each), each.status]));
        this.#write(tx, page, { endpoints, planned: statuses });
        if (page.length < replannedMax) completeWorkWith(tx, work);
        return page;
      });
      isMore = events.length === replannedMax;
      after = events.at(-1)?.id ?? after;
    }
  }

  async #endpointsOf(tx: Transaction, merchantId: string, isChanging: boolean): Promise<readonly EndpointToPlan[]> {
    const read = () => listEndpointsToPlan(tx, merchantId);
    return (isChanging ? await read() : await this.#endpoints.get(merchantId, read)) ?? [];
  }

  #write(tx: Transaction, events: readonly (EventToDeliver | WrittenEvent)[], plan: Plan): void {
    const { clock, newId, scheduleDeliveries } = this.#context;
    const { endpoints, planned } = plan;
    const createdAt = clock.now();
    const keys = new Set<string>();
    const first = new SentAfterCommit(plan.firstAttempts ?? null);
    const signerId = endpoints.find(({ isDefault }) => isDefault)?.id ?? '';
    for (const event of events) {
      const { merchantId, id: eventId } = event;
      const statusOf: StatusOfWritten = (own) =>
        planned?.get(addressKey({ eventId, endpointId: own ?? signerId, isOwnUrl: own !== null }));
      for (const delivery of planDeliveries(event, endpoints, statusOf)) {
        const { endpointId, callbackUrl, status } = delivery;
        const known = statusOf(callbackUrl === null ? endpointId : null);
        if (known !== undefined && (known !== 'kept' || status !== 'pending')) continue;
        const key = endpointQueueKey({ ...delivery, merchantId });
        const row = { ...delivery, merchantId, id: newId(), eventId, createdAt };
        if (known === 'kept') {
          for (const statement of upsertResends(merchantId, [row], { now: createdAt, states: ['kept'] }))
            tx.send(statement);
          keys.add(key);
          continue;
        }
        const endpoint = callbackUrl === null && endpoints.find(({ id }) => id === endpointId);
        if (status !== 'pending') tx.send(insertDeliveryOnce({ ...row, nextAttemptAt: null }));
        else if (endpoint && 'recordText' in event && first.add(key, { id: row.id, endpoint, event })) {
          const nextAttemptAt = addMs(createdAt, deliveryLeaseMs);
          tx.send(insertDeliveryOnce({ ...row, nextAttemptAt, attempts: 1 }));
        } else {
          keys.add(key);
          tx.send(insertDeliveryOnce({ ...row, nextAttemptAt: createdAt }));
        }
      }
    }
    tx.afterCommit(() => first.send());
    if (keys.size > 0) tx.afterCommit(() => scheduleDeliveries([...keys]));
  }
}

/** By what deliveries are written. */
interface Plan {
  endpoints: readonly EndpointToPlan[];
  /** What has a delivery already. */
  planned?: ReadonlyMap<string, DeliveryStatus>;
  firstAttempts?: FirstAttempts | null;
}

/** The deliveries of a transaction whose first attempts follow its commit, as far as their endpoint queues have room. */
class SentAfterCommit {
  readonly #firstAttempts: FirstAttempts | null;
  readonly #byKey = new Map<string, { room: number; deliveries: WrittenDelivery[] }>();

  constructor(firstAttempts: FirstAttempts | null) {
    this.#firstAttempts = firstAttempts;
  }

  /** Whether there was room. */
  add(key: string, delivery: WrittenDelivery): boolean {
    const queue = this.#byKey.get(key) ?? { room: this.#firstAttempts?.room(key) ?? 0, deliveries: [] };
    this.#byKey.set(key, queue);
    if (queue.deliveries.length >= queue.room) return false;
    queue.deliveries.push(delivery);
    return true;
  }

  send(): void {
    for (const [key, { deliveries }] of this.#byKey) {
      if (deliveries.length > 0) this.#firstAttempts?.send(key, deliveries);
    }
  }
}

function addressKey({ eventId, endpointId, isOwnUrl }: DeliveryAddress): string {
  return `${eventId} ${endpointId} ${isOwnUrl}`;
}
