/** Where progress is shown: beside the result, which may be piped to a program. */
export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  show(done: number): void;
  /** Leaves the cursor on a line of its own. */
  end(): void;
}

const barWidthMax = 40;
// A log does not want a line for every step.
const lineEveryPercent = 10;

/** A bar on a terminal; elsewhere a line now and then. */
export function createProgress(stream: ProgressStream, { total, what }: { total: number; what: string }): Progress {
  const percentOf = (done: number): number => (total === 0 ? 100 : Math.min(100, Math.floor((done / total) * 100)));
  const count = (done: number): string => `${done.toLocaleString('en')} of ${total.toLocaleString('en')} ${what}`;
  if (stream.isTTY === true) {
    return {
      show: (done) => {
        const text = ` ${String(percentOf(done)).padStart(3)} %  ${count(done)}`;
        const width = Math.max(0, Math.min(barWidthMax, (stream.columns ?? 80) - text.length - 1));
        const full = Math.round((percentOf(done) / 100) * width);
        stream.write(`\r\u001b[K${'█'.repeat(full)}${'░'.repeat(width - full)}${text}`);
      },
      end: () => stream.write('\n'),
    };
  }
  let reportedPercent = 0;
  return {
    show: (done) => {
      const percent = percentOf(done);
      if (percent < reportedPercent + lineEveryPercent) return;
      reportedPercent = percent - (percent % lineEveryPercent);
      stream.write(`${count(done)}\n`);
    },
    end: () => {},
  };
}
