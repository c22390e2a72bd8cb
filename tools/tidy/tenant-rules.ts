import type { Rule, SourceFile } from './finding.ts';
import { findingAt } from './finding.ts';
import { isServiceCode } from './source-files.ts';
import { findSql, withoutCommentsAndQuotes } from './sql-text.ts';

/**
 * The wall between merchants, and between test and live: every statement is held to one merchant in each tenant table
 * it reads or writes. One that reads across merchants on purpose says so in its own text, with the reason:
 * `-- across merchants: a worker looks for whoever has something to do`.
 */
export const merchantInEveryStatement: Rule = (files) => {
  const tables = findTenantTables(files);
  return files
    .filter((file) => isServiceCode(file.path) && !file.path.startsWith('server/src/database/'))
    .flatMap((file) =>
      findSql(file)
        .filter((sql) => sql.isStatement && !/--\s*across merchants:\s*\S+/.test(sql.text))
        .flatMap((sql) => {
          const touched = tablesTouched(sql.text, tables);
          if (countHolds(sql.text) >= touched.length) return [];
          const message = `touches ${touched.join(' and ')} without holding each of them to a merchant; add merchant_id = $1, or the line "-- across merchants: <reason>"`;
          return [findingAt(file, sql.start, message)];
        }),
    );
};

/** The tables with a merchant_id column, from the migrations. */
export function findTenantTables(files: readonly SourceFile[]): Set<string> {
  const migrations = files.filter((file) => /^server\/migrations\/\d+-[\w-]+[.]sql$/.test(file.path));
  const sql = withoutCommentsAndQuotes(migrations.map((file) => file.text).join('\n'));
  const created = sql.matchAll(/\bcreate\s+(?:unlogged\s+)?table\s+(?:if\s+not\s+exists\s+)?([\w.]+)\s*\(([^;]*)/gi);
  const altered = sql.matchAll(/\balter\s+table\s+(?:only\s+)?([\w.]+)\s+([^;]*)/gi);
  return new Set([
    ...[...created].filter(([, , body]) => /(?:^|,)\s*merchant_id\s/i.test(body ?? '')).map(([, table]) => table ?? ''),
    ...[...altered]
      .filter(([, , body]) => /\badd\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?merchant_id\s/i.test(body ?? ''))
      .map(([, table]) => table ?? ''),
  ]);
}

/** Each tenant table as often as the statement names it, for each time is a place to look into another merchant. */
function tablesTouched(sql: string, tables: Set<string>): string[] {
  const text = withoutCommentsAndQuotes(sql);
  const named = [...text.matchAll(/\b(?:join|into|update|using)\s+(?:only\s+)?([\w.]+)/gi)].map(
    ([, table]) => table ?? '',
  );
  const listed = [...text.matchAll(/\bfrom\s+([\w.\s,]+)/gi)].flatMap(([, list]) =>
    (list ?? '').split(',').map(
      (item) =>
        item
          .trim()
          .split(/\s+/)
          .find((word) => !/^only$/i.test(word)) ?? '',
    ),
  );
  return [...named, ...listed].filter((table) => tables.has(table.toLowerCase()));
}

/** How often merchant_id stands in a condition, or among the columns that an INSERT fills. */
function countHolds(sql: string): number {
  const text = withoutCommentsAndQuotes(sql).replaceAll(/\bon\s+conflict\b\s*\([^()]*\)/gi, ' ');
  const conditions = [...text.matchAll(conditionText)].map(([condition]) => condition).join('\n');
  const inserted = [...text.matchAll(/\binsert\s+into\s+[\w.]+\s*\(([^()]*)/gi)].filter(([, columns]) =>
    /\bmerchant_id\b/i.test(columns ?? ''),
  );
  return [...conditions.matchAll(/\bmerchant_id\b/gi)].length + inserted.length;
}

// From a WHERE, ON or USING to the word that ends the condition.
const conditionText =
  /\b(?:where|on|using)\b[\s\S]*?(?=\b(?:returning|group\s+by|order\s+by|having|limit|for\s+update|union|set|select|from|where|on|using)\b|$)/gi;
