/**
 * Reads a list to its end, page by page: `read` gets the last row of the page before, null for the first page, and returns up to
 * `rowsMax` rows. Pages have at least one row.
 */
export async function* pagesOf<Row>(
  rowsMax: number,
  read: (last: Row | null) => Promise<Row[]>,
): AsyncGenerator<Row[], void> {
  for (let last: Row | null = null; ;) {
    const page: Row[] = await read(last);
    last = page.at(-1) ?? null;
    if (last !== null) yield page;
    if (page.length < rowsMax) return;
  }
}
