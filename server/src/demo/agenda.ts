/** Something that happens at a time. */
export interface AgendaItem {
  name: string;
  at: Date;
  /** Whether others may be played at the same time: they touch nothing of each other's but the ledger's accounts. */
  isShared: boolean;
  play: () => Promise<void>;
}

/** What is still to happen, in the order of its times. */
export class Agenda {
  /** The next item is last. */
  readonly #items: AgendaItem[] = [];

  add(item: AgendaItem): void {
    const index = this.#items.findLastIndex(({ at }) => at > item.at);
    this.#items.splice(index + 1, 0, item);
  }

  /**
   * Plays everything before `end`, and what is added meanwhile: shared items several at a time, the others alone, after those
   * before them.
   */
  async playUntil(end: Date, sharedMax: number): Promise<void> {
    const underWay = new Set<Promise<void>>();
    for (;;) {
      const next = this.#items.at(-1);
      if (!next || next.at >= end) {
        if (underWay.size === 0) return;
        await Promise.all(underWay);
        continue;
      }
      this.#items.pop();
      if (!next.isShared) {
        await Promise.all(underWay);
        await next.play();
        continue;
      }
      const playing = next.play().finally(() => underWay.delete(playing));
      underWay.add(playing);
      if (underWay.size >= sharedMax) await Promise.race(underWay);
    }
  }
}
