import type { ChangeFeed } from '../kit/changes.ts';
import { BreakerCopy } from '../networks/payout-breakers.ts';
import type { PaymentContext } from '../payments/context.ts';
import type { MoneyContext } from './contexts.ts';
import { workTopic } from './work-queues.ts';

/** A change feed that notifies the listeners of this process at once. */
export function createLocalChanges(): ChangeFeed {
  const listeners = new Map<string, (key: string) => void>();
  return {
    notify: (topic) => {
      const separator = topic.indexOf(':');
      listeners.get(topic.slice(0, separator))?.(topic.slice(separator + 1));
    },
    subscribe: () => () => {},
    subscribeKind: (kind, listener) => {
      listeners.set(kind, listener);
      return () => listeners.delete(kind);
    },
  };
}

/** The context of a worker whose work is announced within this process. */
export function withLocalChanges(payments: PaymentContext): MoneyContext {
  const changes = createLocalChanges();
  return {
    ...payments,
    changes,
    breakers: new BreakerCopy(),
    transferOwners: {},
    notifyWorker: (work) => changes.notify(workTopic(work)),
  };
}
