import type { Notifier } from '../../server/src/kit/notifier.ts';
import { TopicListeners } from '../../server/src/kit/topic-listeners.ts';
import { asInstance, type Instance } from './instance.ts';

export interface HintOptions {
  /** Waits for the turn of a hint. */
  waitForStep: (label: string) => Promise<void>;
  isLost: () => boolean;
}

/**
 * The hints between instances. Not the real notifier: its connection would deliver whenever the kernel does. As there,
 * listeners of one instance are called at once; a hint to another instance may be late or lost.
 */
export class ChangeFeeds {
  readonly #options: HintOptions;
  readonly #feeds = new Map<Instance, InstanceFeed>();

  constructor(options: HintOptions) {
    this.#options = options;
  }

  of(instance: Instance): Notifier {
    const feed = new InstanceFeed((topic) => this.#spread(instance, topic));
    this.#feeds.set(instance, feed);
    return feed;
  }

  forget(instance: Instance): void {
    this.#feeds.delete(instance);
  }

  #spread(from: Instance, topic: string): void {
    for (const [to, feed] of this.#feeds) {
      if (to === from || !feed.listensTo(topic) || this.#options.isLost()) continue;
      void asInstance(to, async () => {
        await this.#options.waitForStep(`hint ${topic.split(':')[0]}`);
        if (!to.hasCrashed) feed.deliver(topic);
      });
    }
  }
}

class InstanceFeed implements Notifier {
  readonly #listeners = new TopicListeners();
  readonly #spread: (topic: string) => void;

  constructor(spread: (topic: string) => void) {
    this.#spread = spread;
  }

  notify(topic: string): void {
    this.deliver(topic);
    this.#spread(topic);
  }

  subscribe(topic: string, listener: () => void): () => void {
    return this.#listeners.add(topic, listener);
  }

  subscribeKind(kind: string, listener: (key: string) => void): () => void {
    return this.#listeners.add(kind, listener);
  }

  async close(): Promise<void> {}

  listensTo(topic: string): boolean {
    return this.#listeners.of(topic).next().done === false;
  }

  deliver(topic: string): void {
    const key = topic.slice(topic.indexOf(':') + 1);
    for (const listener of this.#listeners.of(topic)) listener(key);
  }
}
