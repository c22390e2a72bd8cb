// How long is kept what is not kept for ever; docs/operations.md has the table.

const dayMs = 24 * 60 * 60 * 1_000;

/** A year and a month, whichever months they are. */
export const thirteenMonthsMs = 400 * dayMs;

export const thirtyDaysMs = 30 * dayMs;
