import type { SearchPlaces } from './search-places.ts';

export interface Listed<Row> {
  /** One more than the limit when there is a next page. */
  rows: Row[];
  total: number;
}

/** A search has a place of its own and takes one connection at a time; other lists are quick and take two. */
export async function listed<Row>(
  context: { searches: SearchPlaces },
  merchantId: string,
  term: string | undefined,
  read: { rows: () => Promise<Row[]>; total: () => Promise<number> },
): Promise<Listed<Row>> {
  if (term !== undefined) {
    return context.searches.search(merchantId, async () => ({ rows: await read.rows(), total: await read.total() }));
  }
  // Together: of two that fail, one that nobody waits for would end the process.
  const [rows, total] = await Promise.all([read.rows(), read.total()]);
  return { rows, total };
}
