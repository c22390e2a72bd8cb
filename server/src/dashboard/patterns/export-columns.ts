import type { CsvCell } from '../../kit/csv.ts';
import type { Visit } from '../visit.ts';

interface ExportColumn<Row> {
  header: string;
  cell(row: Row, visit: Visit): CsvCell;
}

/** The columns of a list's file, after the environment, which no file leaves out. */
export function exportColumns<Row>(columns: Readonly<Record<string, ExportColumn<Row>['cell']>>): ExportColumn<Row>[] {
  const environment: ExportColumn<Row> = {
    header: 'environment',
    cell: (_row, { testMode }) => (testMode ? 'test' : 'live'),
  };
  return [environment, ...Object.entries(columns).map(([header, cell]) => ({ header, cell }))];
}
