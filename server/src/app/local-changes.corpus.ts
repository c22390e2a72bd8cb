import type { ChangeFeed } from '../kit/changes.ts';

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
