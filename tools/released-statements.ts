import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { migrationsFolder } from '../server/src/database/migration-files.ts';

export const releasedStatementsPath = join(migrationsFolder, 'released-statements.sql');

const heading = '-- statement ';

/** The statements of the recorded release by their names. */
export function readReleasedStatements(): Map<string, string> {
  const [, ...parts] = readFileSync(releasedStatementsPath, { encoding: 'utf8', flag: 'a+' }).split(`\n${heading}`);
  return new Map(
    parts.map((part) => {
      const end = part.indexOf('\n');
      return [part.slice(0, end), part.slice(end + 1, part.lastIndexOf(';'))];
    }),
  );
}

/** The file with these statements, of the release whose newest migration has this number. */
export function writeReleasedStatements(statements: ReadonlyMap<string, string>, migration: number): string {
  const sorted = [...statements].toSorted(([left], [right]) => (left < right ? -1 : 1));
  return [
    '-- What the release sends to its database; a newer schema has to take it while an upgrade rolls.',
    `-- through migration ${String(migration).padStart(4, '0')}`,
    '-- Written by node tools/record-statements.ts.',
    ...sorted.map(([name, text]) => `\n${heading}${name}\n${text};`),
    '',
  ].join('\n');
}
