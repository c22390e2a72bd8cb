/** The values of an insert of many rows, numbered row by row: `($1, $2), ($3, $4)`. */
export function placeholders(rows: number, columns: number): string {
  const row = (index: number) =>
    `(${Array.from({ length: columns }, (_, column) => `$${index * columns + column + 1}`).join(', ')})`;
  return Array.from({ length: rows }, (_, index) => row(index)).join(', ');
}
