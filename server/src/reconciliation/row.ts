/** A row of a file, or why it cannot be read. */
export type Row = { rowNumber: number; cells: string[] } | { rowNumber: number; refusal: string };
