type Listener = (key: string) => void;

/** Who listens to a topic, such as `work:<key>`, or to all topics of a kind, such as `work`. */
export class TopicListeners {
  /** By topic, and by the kind alone. */
  readonly #byName = new Map<string, Set<Listener>>();

  /** Returns the function that removes it. */
  add(name: string, listener: Listener): () => void {
    const listeners = this.#byName.get(name) ?? new Set();
    listeners.add(listener);
    this.#byName.set(name, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#byName.delete(name);
    };
  }

  /** Those of the topic and those of its kind. */
  *of(topic: string): Generator<Listener> {
    yield* this.#byName.get(topic) ?? [];
    yield* this.#byName.get(topic.slice(0, topic.indexOf(':'))) ?? [];
  }
}
