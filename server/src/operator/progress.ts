/** The stream for progress: standard error, because the result may be piped. */
export interface ProgressStream {
  isTTY?: boolean;
  columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  show(done: number): void;
  /** Ends the line of the bar. */
  end(): void;
}

const barWidthMax = 40;
// In a log, one line for each step would be too many.
const lineEveryPercent = 10;

/** A progress bar on a terminal; elsewhere a line for every 10 %. */
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
