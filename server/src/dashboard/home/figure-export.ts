import { addMs, utcDay } from '../../kit/clock.ts';
import { csvRows } from '../../kit/csv.ts';
import { cleanText } from '../../pages/page-text.ts';
import { networkName } from '../../networks/known-networks.ts';
import { readRecords, type FigureRecord, type FigureRecords } from '../../reports/read-records.ts';
import type { DashboardRoute } from '../dashboard-route.ts';
import { exportName } from '../../portal/patterns/export-name.ts';
import { sendExport } from '../../portal/patterns/list-export.ts';
import type { Visit } from '../visit.ts';
import { readReportOf, readShown, recordFilter, recordNames, type ShownPart } from './figure-page.ts';

const heading = ['time', 'environment', 'record', 'id', 'reference', 'for', 'network', 'amount'] as const;
const rowsPerRead = 500;

/** The records behind a figure as a file, newest first; their amounts add up to it. */
export const figureExport: DashboardRoute = {
  path: '/figures/:figure/file',
  action: 'figures.read',
  async handle(visit, input) {
    const shown = await readShown(visit, input);
    const { figure, part, range } = shown;
    const what = part ? `${figure.title} ${cleanText(part.name)}` : figure.title;
    const days = range.from === range.to ? [range.from] : [range.from, range.to];
    return sendExport(visit, exportName(visit, what, days), () => linesOf(visit, shown));
  },
};

async function* linesOf(visit: Visit, shown: ShownPart): AsyncGenerator<string> {
  const { figure } = shown;
  // What moves while the file is read is not in it, or a record of today could pass the page that is read.
  const until = shown.until ?? addMs(visit.now, 1);
  const filter = recordFilter(shown);
  yield csvRows([heading]);
  const { slots } = await readReportOf(visit.money.db, visit.merchant, shown);
  // Most days of a year may have nothing.
  const days = slots.filter(({ figures }) => Object.values(figures).some((value) => value !== 0n));
  for (const day of days.map(({ slot }) => utcDay(slot)).toReversed()) {
    let cursor: string | null = null;
    do {
      const page = { day, until, cursor, filter, rowsMax: rowsPerRead };
      const list: FigureRecords = await readRecords(visit.money.db, visit.merchant, figure.records, page);
      yield csvRows(list.records.map((record) => cellsOf(visit, record)));
      cursor = list.nextCursor;
    } while (cursor !== null);
  }
}

function cellsOf({ testMode }: Visit, { at, record, id, reference, name, network, amountMinor }: FigureRecord) {
  return [
    at.toISOString(),
    testMode ? 'test' : 'live',
    record === null ? 'Entry' : recordNames[record],
    ...[id, reference, name && cleanText(name), networkName(network)],
    amountMinor,
  ];
}
