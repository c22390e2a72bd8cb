/** What keeps a process alive that has run several test files, and since which of them. */
export class OpenResources {
  readonly #notes: { file: string; counts: Map<string, number> }[] = [];

  /** Once a file has ended. Some of what it used may take a moment to close. */
  note(file: string): void {
    this.#notes.push({ file, counts: countOpen() });
  }

  /** `TCPServerWrap (since a.test.ts), Timeout`: the latest files after which there were never fewer than now. */
  describe(): string {
    const kinds = [...countOpen()].map(([kind, count]) => {
      const lastWithFewer = this.#notes.findLastIndex(({ counts }) => (counts.get(kind) ?? 0) < count);
      const since = this.#notes[lastWithFewer + 1];
      return this.#notes.length > 1 && since ? `${kind} (since ${since.file})` : kind;
    });
    return kinds.join(', ');
  }
}

function countOpen(): Map<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== 'PipeWrap') counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
