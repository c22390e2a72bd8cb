import { cursorPosition, limitMax, newerCursor, totalMax, type PageRequest } from '../../api/pagination.ts';
import { html, type Html } from '../../kit/html.ts';

export const rowsPerPage = 25;

/** The page that an address asks for; what is no cursor is the first page. Exports ask for more rows. */
export function pageOf({ cursor = '', limit }: Readonly<Record<string, string>>): PageRequest {
  return { limit: rowsOf(limit), offset: 0, before: null, ...cursorPosition(cursor) };
}

function rowsOf(limit = ''): number {
  return /^\d{1,3}$/.test(limit) ? Math.min(Math.max(Number(limit), 1), limitMax) : rowsPerPage;
}

/** A list with its rows as a page shows them; beyond the exact count it has more than so many. */
export function shownRows<Listed extends { total: number }, Row>(list: Listed, rows: readonly Row[]) {
  return { ...list, rows, total: Math.min(list.total, totalMax), isCapped: list.total > totalMax };
}

interface Neighbours {
  rows: readonly { id: string }[];
  nextCursor: string | null;
  /** Left out by lists that are not read by the ids of their rows: they lead back to the newest only. */
  hasNewer?: boolean;
}

/** True where newer rows than a page holds are too few for one: the first page is then shown, which has them all. */
export function isShortFirstPage({ rows, hasNewer }: Neighbours, { inFrontOf, limit }: PageRequest): boolean {
  return Boolean(inFrontOf) && (hasNewer !== true || rows.length < limit);
}

/** Links to the pages around this one. `href` gets what the address has beside the filters. */
export function pageLinks(
  { rows, nextCursor, hasNewer }: Neighbours,
  href: (more: [string, string][]) => string,
  { isFirst, swap }: { isFirst: boolean; swap: Html },
): Html {
  const [first] = rows;
  const link = (text: string, more: [string, string][], rel?: 'prev' | 'next'): Html =>
    html`<a class="button small plain" ${rel && html`rel="${rel}"`} href="${href(more)}" ${swap}>${text}</a>`;
  return html`<nav class="pages" aria-label="Pages">${!isFirst && link('Newest', [])}
${!isFirst && hasNewer === true && first && link('Newer', [['cursor', newerCursor(first.id)]], 'prev')}
${nextCursor !== null && link('Older', [['cursor', nextCursor]], 'next')}</nav>`;
}
