import { utcDay } from '../../kit/clock.ts';
import { listRoutes } from '../patterns/list-page.ts';
import { formatAmount } from '../../kit/money.ts';
import { endBefore, firstMoment } from '../../kit/time-or-day.ts';
import { foreignText } from '../../pages/page-text.ts';
import { terminalSchema } from '../../terminals/wire-schemas.ts';
import { listTakingsOfTerminals } from '../../transactions/terminal-summary.ts';
import { isFound, readList } from '../patterns/read-list.ts';
import { exportColumns } from '../patterns/export-columns.ts';
import type { ListResult } from '../../portal/patterns/list-page.ts';
import { stateMark, twoLines } from '../../portal/patterns/texts.ts';
import type { Visit } from '../visit.ts';
import { moreDateFilters } from '../../portal/patterns/time-filter.ts';
import { codeText, counterMark, readOwnCounters, type Counter } from './read-counter.ts';

type Row = Counter & { times: number; collectedMinor: bigint };

export const counterLists = listRoutes<Row>({
  ...{ path: '/counters', action: 'counters.use', title: 'Counters' },
  noun: ['counter', 'counters'],
  filters: [{ kind: 'search', name: 'term', label: 'Name, code or chat number' }, ...moreDateFilters],
  async read(visit, query) {
    const list = visit.may('counters.use').ownOnly
      ? await ownList(visit, query)
      : await readList(visit, 'listVirtualTerminals', terminalSchema, query);
    const today = utcDay(visit.now);
    const range = { from: firstMoment(today), to: endBefore(today) };
    const ids = list.rows.map(({ id }) => id);
    const { db } = visit.money;
    const takings = ids.length === 0 ? [] : await listTakingsOfTerminals(db, visit.merchant.id, { ids, ...range });
    const byId = new Map(takings.map((each) => [each.id, each]));
    const rows = list.rows.map((row) => {
      const { count = 0n, paidMinor = 0n, refundedMinor = 0n } = byId.get(row.id) ?? {};
      return { ...row, times: Number(count), collectedMinor: paidMinor - refundedMinor };
    });
    return { ...list, rows };
  },
  exported: {
    needs: 'figures.read',
    columns: exportColumns({
      counter_id: ({ id }) => id,
      name: ({ name }) => name,
      code: ({ code }) => code,
      address: ({ qr_code_url: address }) => address,
      chat_numbers: ({ chat_numbers: numbers }) => numbers.join('; '),
      state: (row) => counterMark(row).text,
      payments_today: ({ times }) => String(times),
      collected_today: ({ collectedMinor }) => collectedMinor,
      created_at: ({ createdAt }) => createdAt,
    }),
  },
  columns: [
    {
      header: 'Name',
      isMain: true,
      cell: (row) => twoLines(foreignText(row.name), codeText(row.code)),
    },
    { header: 'Code', cell: ({ code }) => codeText(code) },
    { header: 'Times today', isNumber: true, cell: ({ times }) => times.toLocaleString('en-GB') },
    {
      header: 'Collected today',
      isMain: true,
      isNumber: true,
      cell: (row) => twoLines(formatAmount(row.collectedMinor), stateMark(counterMark(row))),
    },
    { header: 'State', cell: (row) => stateMark(counterMark(row)) },
  ],
  href: ({ id }) => `/counters/${id}`,
  first: { href: '/counters/new', text: 'New counter', needs: 'counters.write' },
  empty: {
    text: 'No counters yet. A counter is a till with its own QR code and poster, and a screen that shows who has paid.',
  },
});

async function ownList(visit: Visit, query: Readonly<Record<string, string>>): Promise<ListResult<Counter>> {
  const rows = (await readOwnCounters(visit)).filter((counter) =>
    isFound(query, { ...counter, texts: [counter.name, counter.code, codeText(counter.code)] }),
  );
  return { rows, total: rows.length, nextCursor: null };
}
