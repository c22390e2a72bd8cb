import type { CallbackNews } from './contract.ts';

// JSON knows no bigint; amounts travel as `{"bigint": "450"}`, which no connector's own text looks like.
interface WrittenBigint {
  bigint: string;
}

/** What a callback said, as text that keeps amounts exactly. */
export function writeNews(news: readonly CallbackNews[]): string {
  return JSON.stringify(news, (_name, value: unknown) =>
    typeof value === 'bigint' ? ({ bigint: value.toString() } satisfies WrittenBigint) : value,
  );
}

export function readNews(text: string): CallbackNews[] {
  const written = JSON.parse(text, (_name, value: unknown) =>
    isWrittenBigint(value) ? BigInt(value.bigint) : value,
  ) as CallbackNews[];
  // What was stored before there were payouts does not say what it is about.
  return written.map((news) => ({ ...news, operation: news.operation ?? 'collection' }) as CallbackNews);
}

function isWrittenBigint(value: unknown): value is WrittenBigint {
  return typeof value === 'object' && value !== null && 'bigint' in value && typeof value.bigint === 'string';
}
