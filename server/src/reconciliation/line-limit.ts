/**
 * Leaves out the lines of a text that are longer than `charactersMax`: each becomes an empty one, so that the numbers of the lines
 * after it stay. The parser of CSV files drops everything that it has read beside such a line. The text comes in parts of at most
 * `charactersMax`, of which one is in memory at a time.
 */
export class LineLimit {
  readonly #charactersMax: number;
  readonly #lineBreak: string;
  readonly #onLong: (lineNumber: number) => void;
  #rest = '';
  #isLong = false;
  #lineNumber = 1;

  constructor(options: { charactersMax: number; lineBreak: string; onLong: (lineNumber: number) => void }) {
    this.#charactersMax = options.charactersMax;
    this.#lineBreak = options.lineBreak;
    this.#onLong = options.onLong;
  }

  /** The text that is complete with this part: whole lines. */
  take(part: string): string {
    const first = part.indexOf(this.#lineBreak);
    if (first === -1) {
      this.#append(part);
      return '';
    }
    this.#append(part.slice(0, first));
    const begun = this.end();
    const last = part.lastIndexOf(this.#lineBreak);
    for (let at = first; at !== -1; at = part.indexOf(this.#lineBreak, at + 1)) this.#lineNumber += 1;
    this.#append(part.slice(last + 1));
    return begun + part.slice(first, last + 1);
  }

  /** What is left of the last line. */
  end(): string {
    const rest = this.#rest;
    if (this.#isLong) this.#onLong(this.#lineNumber);
    this.#rest = '';
    this.#isLong = false;
    return rest;
  }

  #append(text: string): void {
    if (this.#isLong) return;
    this.#rest += text;
    this.#isLong = this.#rest.length > this.#charactersMax;
    if (this.#isLong) this.#rest = '';
  }
}
