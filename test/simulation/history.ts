/** What a merchant has set a field to, one value after the other. */
export class History {
  readonly #values: string[];
  readonly #mayReturn: boolean;
  /** The place of the oldest value that may hold. */
  #from = 0;
  #isChanging = false;

  /** With `mayReturn`, an older value may hold again: its request may arrive once more. */
  constructor(first: string, mayReturn: boolean) {
    this.#values = [first];
    this.#mayReturn = mayReturn;
  }

  /** What may hold now: one value, but for a change that is under way or was refused. */
  get values(): readonly string[] {
    return this.#values.slice(this.#from);
  }

  /** Before the change is sent: from then on it may hold. False while another one is under way: nobody would know which is newer. */
  beginChange(value: string): boolean {
    if (this.#isChanging) return false;
    this.#isChanging = true;
    this.#values.push(value);
    return true;
  }

  endChange(isMade: boolean): void {
    this.#isChanging = false;
    if (isMade && !this.#mayReturn) this.#from = this.#values.length - 1;
  }

  /** Call it before something is sent that reads the field; what that returns, when the response has come, lists what was read. */
  beginReading(): () => readonly string[] {
    const from = this.#from;
    return () => this.#values.slice(from);
  }
}
