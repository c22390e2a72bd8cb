interface Limits {
  /** Pieces under way in all: a waiting network call costs a socket and some kilobytes, no database connection. */
  totalMax: number;
  /** Pieces of one key, so that the calls of one merchant that hang leave room for everybody else's. */
  perKeyMax: number;
}

// Claiming for each single piece that ends would cost a statement each; a few at a time cost a fraction.
const roomWorthClaiming = 4;

/**
 * What has been claimed and is being done, apart from who claims: a key is free for its next claim while its slow
 * pieces go on. Keys that had more to do than there was room for are poked when there is.
 */
export class PiecesUnderWay {
  readonly #limits: Limits;
  readonly #byKey = new Map<string, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #wanting = new Set<string>();
  #total = 0;
  #poke: (key: string) => void = () => {};

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  onRoom(poke: (key: string) => void): void {
    this.#poke = poke;
  }

  /** Takes all the room there is for a key; what is not used is given back. */
  reserve(key: string): number {
    const room = this.#room(key);
    this.#add(key, room);
    return room;
  }

  giveBack(key: string, count: number): void {
    this.#add(key, -count);
  }

  /** There may be more to do for the key. */
  want(key: string): void {
    this.#wanting.add(key);
  }

  /** Follows a piece that has its place. It must not reject. */
  follow(key: string, piece: Promise<void>): void {
    const running = piece.finally(() => {
      this.#running.delete(running);
      this.#add(key, -1);
      this.#tell();
    });
    this.#running.add(running);
  }

  get isIdle(): boolean {
    return this.#running.size === 0;
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #room(key: string): number {
    const ofKey = this.#limits.perKeyMax - (this.#byKey.get(key) ?? 0);
    return Math.max(0, Math.min(ofKey, this.#limits.totalMax - this.#total));
  }

  #add(key: string, count: number): void {
    this.#total += count;
    const next = (this.#byKey.get(key) ?? 0) + count;
    if (next === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, next);
  }

  #tell(): void {
    for (const key of this.#wanting) {
      if (this.#total >= this.#limits.totalMax) return;
      if (this.#room(key) < roomWorthClaiming && this.#byKey.has(key)) continue;
      this.#wanting.delete(key);
      this.#poke(key);
    }
  }
}
