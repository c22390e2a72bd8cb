import { findingAt, findMatches, type Finding, type Rule } from './finding.ts';
import { isQueriesFile, isServiceCode } from './source-files.ts';
import { findLiterals, findSql, findNamedStatements, withoutCommentsAndQuotes } from './sql-text.ts';

/** Words of SQL that no statement of the service may hold, with what to write instead. */
export const bannedInStatements: { pattern: RegExp; message: string }[] = [
  {
    pattern:
      /\b(?:now|clock_timestamp|statement_timestamp|transaction_timestamp|timeofday)\s*\(|\b(?:current_timestamp|current_date|current_time|localtimestamp|localtime)\b/gi,
    message: 'lets the database tell the time; hand the time in as a value, from the Clock',
  },
  {
    pattern: /\b(?:gen_random_uuid|uuidv[47]|uuid_generate_v\d\w*|random|nextval)\s*\(/gi,
    message: 'lets the database make the id; make it in the application and hand it in as a value',
  },
  {
    pattern:
      /\binsert\s+into\s+[\w.]+\s*(?:\([^()]*\)\s*)?(?:overriding\s+\w+\s+value\s+)?\(?\s*(?:select|with|table)\b/gi,
    message:
      'inserts what it selects, which a sharded database may lose without an error; read first, then insert VALUES',
  },
  {
    pattern: /\bas\s+(?:(?:not\s+)?materialized\s+)?\(\s*insert\b/gi,
    message: 'inserts inside WITH, which a sharded database sends to every node; send two statements',
  },
  {
    pattern: /\bvalues\s*\([^;]*?\(\s*select\b/gi,
    message: 'selects inside VALUES, which a sharded database refuses; read first, then insert the value',
  },
];

/** Time and ids come from the application, rows are written with VALUES: docs/database.md, "Rules that keep it scalable". */
export const statementWords: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && !isDatabaseModule(file.path))
    .flatMap((file) =>
      findSql(file).flatMap((sql) =>
        bannedInStatements.flatMap(({ pattern, message }) =>
          [...withoutCommentsAndQuotes(sql.text).matchAll(pattern)].map((match) =>
            findingAt(file, sql.start + match.index, message),
          ),
        ),
      ),
    );

/** A module's SQL is where everybody looks for it. The kit and the lists of `api` have no tables of their own. */
export const statementFiles: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && !isQueriesFile(file.path))
    .filter((file) => !isDatabaseModule(file.path) && !/^server\/src\/(kit|api)\//.test(file.path))
    .flatMap((file) =>
      findSql(file).map((sql) =>
        findingAt(
          file,
          sql.start,
          "has SQL in it; it belongs into the module's queries.ts, one function for each statement",
        ),
      ),
    );

const transactionWords =
  /^\s*(?:BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|START TRANSACTION|ABORT)\b|^\s*(?:begin|commit|rollback)\s*;?\s*$/;

/** What a transaction holds is decided by withTransaction alone. */
export const transactionFiles: Rule = (files) =>
  files
    .filter((file) => isServiceCode(file.path) && !isDatabaseModule(file.path) && file.path !== 'server/src/kit/db.ts')
    .flatMap((file): Finding[] =>
      findLiterals(file)
        .filter(({ text }) => transactionWords.test(text))
        .map(({ start }) =>
          findingAt(file, start, 'begins or ends a transaction; call withTransaction and work in the tx it hands over'),
        ),
    );

/** Only the ledger writes movements: everybody else calls it with postings. */
export const ledgerTables: Rule = (files) =>
  files
    .filter(
      (file) => isServiceCode(file.path) && !file.path.startsWith('server/src/ledger/') && !isDatabaseModule(file.path),
    )
    .flatMap((file) =>
      findSql(file).flatMap((sql) =>
        [...sql.text.matchAll(/\b(?:insert\s+into|update|delete\s+from)\s+ledger_\w+/gi)].map((match) =>
          findingAt(file, sql.start + match.index, 'writes to the ledger; call ledger/post.ts with postings'),
        ),
      ),
    );

/** The driver refuses a name whose text has changed, but only on the connection that has seen both. */
export const statementNames: Rule = (files) => {
  const seen = new Map<string, string>();
  return files
    .filter((file) => isQueriesFile(file.path))
    .flatMap((file) =>
      findNamedStatements(file).flatMap(({ start, name, isWhole }) => {
        if (!isWhole) return [];
        const first = seen.get(name);
        const finding = findingAt(
          file,
          start,
          `names a statement ${name}, as ${first} does; each statement has its own name`,
        );
        if (first !== undefined) return [finding];
        seen.set(name, `${file.path}:${finding.line}`);
        return [];
      }),
    );
};

const bannedInMigrations = [
  ...bannedInStatements,
  {
    pattern: /\bcreate\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\b/gi,
    message: 'makes a trigger; write the rule in TypeScript',
  },
  { pattern: /\bcreate\s+(?:or\s+replace\s+)?rule\b/gi, message: 'makes a rewrite rule; write the rule in TypeScript' },
  {
    pattern: /\bdeferrable\b|\binitially\s+deferred\b/gi,
    message: 'defers a constraint to COMMIT, where its reason is lost; order the statements so that each one holds',
  },
  {
    pattern: /\brow\s+level\s+security\b|\bcreate\s+policy\b/gi,
    message: 'uses row-level security; put merchant_id into every WHERE',
  },
  {
    pattern: /\b(?:real|float[48]?|double\s+precision|money)\b(?=\s*(?:\(|,|\)|not\b|null\b|default\b|$))/gim,
    message: 'keeps a number that is not exact; amounts are bigint bututs',
  },
  {
    pattern: /\b(?:small|big)?serial[248]?\b|\bas\s+identity\b/gi,
    message: 'counts ids in the database; ids are UUIDs from the application',
  },
];

/** What the sharded database cannot do, or does differently, is not in the schema from the first migration on. */
export const migrationWords: Rule = (files) =>
  files
    .filter((file) => /^server\/migrations\/\d+-[\w-]+[.]sql$/.test(file.path))
    .flatMap((file) =>
      bannedInMigrations.flatMap(({ pattern, message }) =>
        findMatches(file, withoutCommentsAndQuotes(file.text), pattern, message),
      ),
    );

/** Starts, migrates and describes the server; it works as the owner, outside any merchant. */
function isDatabaseModule(path: string): boolean {
  return path.startsWith('server/src/database/');
}
