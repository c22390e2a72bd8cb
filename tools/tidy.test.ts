import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { findUntidiness } from './tidy.ts';
import { loadSqlParser } from './tidy/postgresql.ts';

before(loadSqlParser);

const migration = `
  CREATE TABLE merchants (id uuid NOT NULL, CONSTRAINT merchants_pkey PRIMARY KEY (id));
  CREATE TABLE charges (
    merchant_id uuid NOT NULL,
    id uuid NOT NULL, -- not now()
    CONSTRAINT charges_pkey PRIMARY KEY (merchant_id, id)
  );
  CREATE TABLE simulator.sessions (merchant_id uuid NOT NULL, id uuid NOT NULL);
  CREATE TABLE notes (id uuid NOT NULL);
  ALTER TABLE notes ADD COLUMN merchant_id uuid NOT NULL;
`;

/** The findings in one file, beside the migration above, as `line message`. */
function findingsIn(path: string, text: string, others: Record<string, string> = {}): string[] {
  const files = { 'server/migrations/0001-first.sql': migration, ...others, [path]: text };
  return findUntidiness(Object.entries(files).map(([name, content]) => ({ path: name, text: content }))).map(
    (finding) => `${finding.path}:${finding.line} ${finding.message}`,
  );
}

function assertFound(path: string, text: string, line: number, message: RegExp): void {
  const findings = findingsIn(path, text);
  assert.equal(findings.length, 1, findings.join('\n') || 'nothing was found');
  assert.match(findings[0] ?? '', message);
  assert.ok(findings[0]?.startsWith(`${path}:${line} `), findings[0]);
}

function assertClean(path: string, text: string): void {
  assert.deepEqual(findingsIn(path, text), []);
}

const code = 'server/src/payments/create-payment.ts';
const queries = 'server/src/payments/queries.ts';
const next = 'server/migrations/0002-next.sql';
const statement = (text: string, name = 'charges_find') => `db.run({ name: '${name}', text: \`${text}\` });\n`;

describe('code', () => {
  test('the time comes from the Clock', () => {
    assertFound(code, 'const a = 1;\nconst now = new Date();', 2, /clock\.now\(\)/);
    assertFound(code, 'const text = `at ${new Date( )}`;', 1, /clock\.now\(\)/);
    assertFound(code, 'const text = Date();', 1, /clock\.now\(\)/);
    assertClean(code, `const at = new Date(row.at); // never new Date()\nconst text = 'new Date()'; toDate();`);
    assertClean('server/src/kit/clock.ts', 'export const now = new Date();');
    assertClean('server/src/payments/a.test.ts', 'const now = new Date();');
  });

  test('a file exports what it defines', () => {
    assertFound(code, `\nexport { a } from './a.ts';`, 2, /import the file that defines it/);
    assertFound(code, `export type {\n  A,\n} from './a.ts';`, 1, /import the file that defines it/);
    assertFound(code, `export * from './a.ts';`, 1, /import the file that defines it/);
    assertClean(code, `export { listCharges } from './queries.ts';\nexport { a };\nexport const from = 1;`);
  });

  test('a rule is switched off for a reason', () => {
    assertFound(code, '\n// oxlint-disable-next-line no-var\nvar a = 1;', 2, /add the reason/);
    assertFound('test/a.ts', '/* eslint-disable no-var */', 1, /add the reason/);
    assertClean(
      code,
      `// oxlint-disable-next-line no-var -- the driver's types demand it\nconst a = 'oxlint-disable';`,
    );
  });

  test('every test runs', () => {
    const path = 'server/src/payments/a.test.ts';
    for (const word of ['only', 'skip', 'todo']) {
      assertFound(path, `test.${word}('a', () => {});`, 1, /every test runs/);
      assertFound(path, `test('a', { ${word}: true }, () => {});`, 1, /every test runs/);
    }
    assertClean(path, `test('a page skips', () => { list({ skip: 10 }); }); // test.only(`);
    assertClean(code, 'list.skip(3);');
  });
});

describe('SQL', () => {
  test('times and ids are values', () => {
    for (const word of ['now()', 'CURRENT_TIMESTAMP', 'clock_timestamp()', 'gen_random_uuid()', 'random()']) {
      const text = statement(`UPDATE charges SET a = 1\n WHERE merchant_id = $1 AND b < ${word}`);
      assertFound(queries, text, 2, /hand (the time|it) in as a value/);
      assertFound(next, `CREATE TABLE a (\n b text DEFAULT ${word});`, 2, /hand (the time|it) in as a value/);
    }
    assertClean(queries, statement(`SELECT 1 FROM charges WHERE merchant_id = $1 AND a = 'now()' -- not now()`));
  });

  test('rows are written with VALUES', () => {
    assertFound(
      queries,
      statement('INSERT INTO charges (merchant_id, id)\n SELECT $1, id FROM a'),
      1,
      /then insert VALUES/,
    );
    assertFound(next, 'INSERT INTO notes SELECT 1;', 1, /then insert VALUES/);
    assertFound(
      queries,
      statement('WITH a AS (INSERT INTO charges (merchant_id) VALUES ($1)) SELECT 1 FROM a'),
      1,
      /send two statements/,
    );
    assertFound(
      queries,
      statement('INSERT INTO charges (merchant_id, n) VALUES ($1, (SELECT max(n) FROM a))'),
      1,
      /read first/,
    );
    assertClean(queries, statement('INSERT INTO charges (merchant_id, id) VALUES ($1, $2), ($1, $3) RETURNING id'));
  });

  test('statements stand in queries.ts', () => {
    assertFound(code, `\nconst a = 'SELECT id FROM merchants';`, 2, /belongs into the module's queries\.ts/);
    assertFound(
      code,
      'const a = `insert into merchants (id) values ($1)`;',
      1,
      /belongs into the module's queries\.ts/,
    );
    assertClean(code, `const a = 'Select a network';\nconst b = 'Delete from the list'; // SELECT 1`);
    assertClean('server/src/payments/queries/charges.ts', `const a = 'SELECT id FROM merchants';`);
    assertClean('server/src/database/migrate.ts', `const a = 'SELECT now()';`);
    assertClean('server/src/payments/a.test.ts', `const a = 'SELECT now()';`);
  });

  test('only withTransaction begins and ends transactions', () => {
    for (const word of ['BEGIN', 'COMMIT', 'ROLLBACK', 'SAVEPOINT a', 'START TRANSACTION', 'begin', 'commit;'])
      assertFound(code, `tx.run('${word}');`, 1, /call withTransaction/);
    assertClean('server/src/kit/db.ts', `client.query('BEGIN');`);
    assertClean(code, `const a = 'begin again';`);
  });

  test('only the ledger writes to its tables', () => {
    const text = statement('UPDATE ledger_accounts SET balance = 0 WHERE merchant_id = $1');
    assertFound(queries, text, 1, /postings/);
    assertClean('server/src/ledger/queries.ts', text);
  });

  test('each statement has its own name', () => {
    const text = statement('SELECT 1 FROM merchants');
    const [finding, ...rest] = findingsIn(queries, text + text);
    assert.match(finding ?? '', /queries\.ts:2 names a statement charges_find, as .*queries\.ts:1 does/);
    assert.deepEqual(rest, []);
    assertClean(queries, text + statement('SELECT 2 FROM merchants', 'charges_find_other'));
  });

  test('migrations hold nothing that a sharded database lacks', () => {
    assertFound(next, '\nCREATE TRIGGER a BEFORE UPDATE ON charges EXECUTE FUNCTION b();', 2, /rule in TypeScript/);
    assertFound(next, 'ALTER TABLE a ADD CONSTRAINT b UNIQUE (c) DEFERRABLE;', 1, /each one holds/);
    assertFound(next, 'ALTER TABLE a ENABLE ROW LEVEL SECURITY;', 1, /merchant_id into every WHERE/);
    assertFound(next, 'CREATE TABLE a (\n  amount double precision NOT NULL\n);', 2, /bigint bututs/);
    assertFound(next, 'CREATE TABLE a (id bigserial NOT NULL);', 1, /UUIDs from the application/);
    assertClean(
      next,
      `-- No trigger, nothing deferrable.\nCREATE TABLE a (money_account text DEFAULT 'real, trigger');`,
    );
    assertClean('server/migrations/schema.sql', 'CREATE TRIGGER a;');
  });
});

describe('migrations', () => {
  const released = {
    'server/migrations/released-statements.sql': '-- through migration 0001\n',
    'server/migrations/0002-next.sql': '',
  };
  const findingsInNext = (sql: string, others: Record<string, string> = {}) =>
    findingsIn(next, sql, { ...released, ...others });

  const unnamed = [
    'CREATE TABLE t (id bigint PRIMARY KEY);',
    'CREATE TABLE t (a bigint UNIQUE, CONSTRAINT t_pkey PRIMARY KEY (a));',
    'CREATE TABLE t (b bigint REFERENCES notes (id));',
    'CREATE TABLE t (c bigint CHECK (c > 0));',
    'CREATE TABLE t (b bigint, FOREIGN KEY (b) REFERENCES notes (id));',
    'ALTER TABLE t ADD EXCLUDE USING gist (a WITH =);',
    'ALTER TABLE t DROP CONSTRAINT old, ADD UNIQUE (a);',
  ];
  for (const sql of unnamed)
    test(`name their constraints, unlike: ${sql}`, () => assertFound(next, sql, 1, /constraint without a name/));

  test('name their constraints, and nothing else needs a name', () => {
    assertClean(
      next,
      `CREATE TABLE t ( -- the PRIMARY KEY
         id bigint NOT NULL CONSTRAINT t_pkey PRIMARY KEY,
         a text DEFAULT 'CHECK UNIQUE' CONSTRAINT t_a_key UNIQUE,
         CONSTRAINT t_b_fkey FOREIGN KEY (b) REFERENCES p (id)
       );
       CREATE UNIQUE INDEX t_d_key ON t (d);
       ALTER TABLE t DROP CONSTRAINT t_c_check;`,
    );
  });

  const breaking: [sql: string, message: RegExp][] = [
    ['DROP TABLE notes;', /drops notes; stop using it first/],
    ['DROP TABLE simulator.sessions;', /drops simulator\.sessions/],
    ['ALTER TABLE charges DROP COLUMN id;', /drops charges\.id/],
    ['ALTER TABLE charges RENAME TO payments;', /renames/],
    ['ALTER TABLE charges RENAME COLUMN id TO key;', /renames/],
    ['ALTER TABLE charges RENAME CONSTRAINT charges_pkey TO a;', /renames/],
    ['ALTER TABLE charges ALTER COLUMN id TYPE text;', /rewrites charges\.id/],
    ['ALTER TABLE charges ALTER COLUMN id DROP DEFAULT;', /takes the default/],
    ['ALTER TABLE charges ALTER COLUMN id SET NOT NULL;', /CHECK \(id IS NOT NULL\) NOT VALID/],
    ['ALTER TABLE charges ADD COLUMN a bigint NOT NULL;', /give it a DEFAULT/],
    ['ALTER TABLE charges ADD COLUMN a bigint CONSTRAINT b CHECK (a > 0);', /then its constraint NOT VALID/],
    ['ALTER TABLE charges ADD CONSTRAINT a CHECK (b > 0);', /add it NOT VALID/],
    ['ALTER TABLE charges ADD CONSTRAINT a FOREIGN KEY (b) REFERENCES notes (id);', /add it NOT VALID/],
    ['ALTER TABLE charges ADD CONSTRAINT a UNIQUE (merchant_id, b);', /UNIQUE INDEX CONCURRENTLY first/],
    ['CREATE INDEX a ON charges (merchant_id, id);', /CREATE INDEX CONCURRENTLY IF NOT EXISTS/],
    ['CREATE INDEX CONCURRENTLY a ON charges (merchant_id, id);', /cannot be repeated/],
    ['TRUNCATE charges;', /delete in batches/],
  ];
  for (const [sql, message] of breaking)
    test(`that the previous release would suffer from are refused: ${sql}`, () => {
      const [finding, ...rest] = findingsInNext(`-- Why — and more.\n${sql}`);
      assert.match(finding ?? 'nothing was found', message);
      assert.match(finding ?? '', /:2 /);
      assert.deepEqual(rest, []);
    });

  const expanding = [
    'CREATE TABLE t (a bigint); CREATE INDEX b ON t (a); ALTER TABLE t ALTER COLUMN a SET NOT NULL; ALTER TABLE t RENAME TO u;',
    'ALTER TABLE charges ADD COLUMN a bigint; ALTER TABLE charges ADD COLUMN b bigint NOT NULL DEFAULT 0;',
    'ALTER TABLE charges ADD CONSTRAINT a CHECK (b > 0) NOT VALID;',
    'ALTER TABLE charges VALIDATE CONSTRAINT a;',
    'ALTER TABLE charges ADD CONSTRAINT a UNIQUE USING INDEX b;',
    'CREATE INDEX CONCURRENTLY IF NOT EXISTS a ON charges (merchant_id, id);',
    'ALTER TABLE charges DROP CONSTRAINT a;',
    '-- contracts: no statement since 0.2.0 reads it\nALTER TABLE charges DROP COLUMN id;',
    '-- small table: one row for each operator\nALTER TABLE charges ADD CONSTRAINT a CHECK (b > 0);',
  ];
  for (const sql of expanding) test(`may expand: ${sql.slice(0, 80)}`, () => assert.deepEqual(findingsInNext(sql), []));

  test('an excuse counts for the statement that it stands above', () => {
    const sql = '-- contracts: nothing reads it\nALTER TABLE charges DROP COLUMN a;\nDROP TABLE notes;';
    assert.deepEqual(
      findingsInNext(sql).map((finding) => finding.split(';')[0]),
      [`${next}:3 drops notes`],
    );
  });

  test('a constraint is validated in a later file than the one that adds it', () => {
    const added = 'ALTER TABLE charges ADD CONSTRAINT a CHECK (b IS NOT NULL) NOT VALID;';
    const validated = 'ALTER TABLE charges VALIDATE CONSTRAINT a;';
    assert.match(findingsInNext(`${added}\n${validated}`).join(), /:2 validates under the lock/);
    const third = 'server/migrations/0003-third.sql';
    const notNull = 'ALTER TABLE charges ALTER COLUMN b SET NOT NULL;';
    const inThird = (sql: string) => findingsIn(third, sql, { ...released, [next]: added });
    assert.deepEqual(inThird(validated), []);
    assert.equal(inThird(notNull).length, 1);
    const fourth = 'server/migrations/0004-fourth.sql';
    assert.deepEqual(findingsIn(fourth, notNull, { ...released, [next]: added, [third]: validated }), []);
  });

  test('what is recorded as released is not judged, nor is anything before a first record', () => {
    assert.deepEqual(findingsIn(next, 'DROP TABLE notes;'), []);
    const record = { 'server/migrations/released-statements.sql': '-- through migration 0002\n' };
    assert.deepEqual(findingsIn(next, 'DROP TABLE notes;', record), []);
  });
});

describe('the wall between merchants', () => {
  const refused = [
    'SELECT * FROM charges WHERE id = $1',
    'SELECT merchant_id FROM charges WHERE id = $1 ORDER BY merchant_id',
    'SELECT 1 FROM charges WHERE merchant_id = merchant_id AND id = $1',
    'SELECT 1 FROM charges WHERE merchant_id IS NOT NULL AND id = $1',
    'SELECT 1 FROM charges WHERE merchant_id <> $1',
    'SELECT 1 FROM charges WHERE merchant_id = ANY ($1::uuid[])',
    'SELECT 1 FROM charges WHERE merchant_id = $1 OR id = $2',
    'SELECT 1 FROM charges WHERE NOT (merchant_id = $1)',
    'SELECT 1 FROM charges WHERE merchant_id = intent_id AND id = $1',
    'SELECT 1 FROM merchants, charges WHERE charges.id = $1',
    'SELECT 1 FROM merchants JOIN charges ON charges.id = merchants.id',
    'SELECT 1 FROM charges c JOIN notes n ON n.id = c.id WHERE c.merchant_id = $1',
    'SELECT 1 FROM charges c LEFT JOIN notes n ON c.merchant_id = $1 AND n.merchant_id = $1',
    'SELECT 1 FROM charges c JOIN notes n ON n.merchant_id = c.merchant_id WHERE c.id = $1',
    'UPDATE charges SET merchant_id = $1 WHERE id = $2 RETURNING merchant_id',
    'UPDATE charges SET a = 1 FROM notes WHERE charges.merchant_id = $1 AND notes.id = charges.id',
    'DELETE FROM charges WHERE id = $1',
    'DELETE FROM charges USING notes WHERE charges.merchant_id = $1',
    'INSERT INTO charges (id) VALUES ($1)',
    `INSERT INTO charges (id, merchant_id) VALUES ($1, $2), ($3, '018f')`,
    'SELECT 1 FROM charges WHERE merchant_id = $1 AND EXISTS (SELECT 1 FROM notes WHERE notes.id = charges.id)',
    'SELECT 1 FROM charges WHERE merchant_id = $1 AND EXISTS (SELECT 1 FROM notes n WHERE n.merchant_id = charges.merchant_id)',
    'SELECT (SELECT max(id) FROM notes) FROM charges WHERE merchant_id = $1',
    'SELECT 1 FROM charges WHERE merchant_id = $1 UNION ALL SELECT 1 FROM notes',
    'SELECT 1 FROM (SELECT * FROM charges WHERE id = $2) AS c WHERE c.merchant_id = $1',
    'WITH a AS (SELECT id FROM charges) SELECT 1 FROM charges WHERE merchant_id = $1',
    'SELECT 1 FROM merchants WHERE EXISTS (SELECT 1 FROM charges WHERE charges.merchant_id = merchants.id)',
    'SELECT 1 FROM notes WHERE id = $1',
    'SELECT 1 FROM simulator.sessions WHERE id = $1',
    'TRUNCATE TABLE charges',
    '-- across merchants:\nSELECT id FROM charges',
  ];
  for (const sql of refused)
    test(`does not stand in: ${sql.slice(0, 80)}`, () =>
      assertFound(queries, statement(`\n${sql}`), 1, /across merchants: <reason>/));

  const held = [
    'SELECT 1, ${columns} FROM charges WHERE merchant_id = $1 AND id = $2 FOR UPDATE SKIP LOCKED',
    'SELECT 1 FROM charges WHERE $1::uuid = merchant_id AND (id = $2 OR id = $3)',
    'SELECT 1 FROM charges c JOIN notes n ON n.merchant_id = c.merchant_id WHERE c.merchant_id = $1',
    'SELECT 1 FROM charges c LEFT JOIN notes n ON n.merchant_id = c.merchant_id AND n.id = c.id WHERE c.merchant_id = $1',
    'SELECT 1 FROM charges JOIN notes USING (merchant_id, id) WHERE merchant_id = $1',
    'SELECT 1 FROM charges WHERE merchant_id = $1 AND EXISTS (SELECT 1 FROM notes WHERE notes.merchant_id = $1)',
    'UPDATE charges SET a = 1 WHERE merchant_id = $1 AND id = $2 RETURNING id',
    'INSERT INTO charges (merchant_id, id) VALUES ($1, $2) ON CONFLICT (merchant_id, id) DO UPDATE SET a = excluded.a',
    'INSERT INTO charges (merchant_id, id) VALUES ${rows}',
    'WITH due AS (SELECT id FROM notes WHERE merchant_id = $1 LIMIT 5) UPDATE charges SET a = 1 FROM due WHERE charges.merchant_id = $1',
    'WITH due AS (SELECT merchant_id FROM notes WHERE merchant_id = $1) DELETE FROM charges USING due WHERE charges.merchant_id = due.merchant_id',
    'SELECT (SELECT 1 FROM charges WHERE charges.merchant_id = merchants.id) FROM merchants WHERE short_id = $1',
    'SELECT id FROM merchants WHERE id = $1',
    '-- across merchants: a worker looks for whoever has something to do\nSELECT id FROM charges',
  ];
  for (const sql of held) test(`stands in: ${sql.slice(0, 80)}`, () => assertClean(queries, statement(sql)));

  test('is looked for in what a statement is put together from', () => {
    const using = (definition: string, text: string) => `${definition}\nexport const a = ${statement(text)}`;
    const join = 'SELECT 1 FROM charges ${more}';
    assertFound(
      queries,
      using("const more = 'JOIN notes ON true WHERE charges.merchant_id = $1';", join),
      2,
      /writes notes/,
    );
    assertClean(queries, using("const more = 'JOIN notes USING (merchant_id) WHERE merchant_id = $1';", join));
    assertFound(queries, using("const more = b ? 'WHERE merchant_id = $1' : '';", join), 2, /writes charges/);
    const found = 'SELECT (SELECT 1 FROM notes WHERE ${held}) FROM charges WHERE merchant_id = $1';
    assertFound(queries, using("const held = 'true';", found), 2, /writes notes/);
    const called = found.replace('held', "held('$1')");
    assertClean(queries, using('const held = (id: string) => `notes.merchant_id = ${id}`;', called));
    assertFound(queries, using('', 'SELECT 1 FROM ${from} WHERE ${text}'), 2, /names a table by what only/);
    assertFound(queries, using('', 'SELECT FROM WHERE'), 2, /cannot read/);
  });

  test('is looked for in a condition that a function makes', () => {
    const part = (sql: string) => `export function part(b: string) {\n  return \`\${b} IN (${sql})\`;\n}`;
    assertFound(queries, part('SELECT id FROM charges'), 2, /writes charges/);
    assertClean(queries, part('SELECT id FROM charges WHERE merchant_id = $1'));
  });
});

describe('words', () => {
  test('no notes are left behind', () => {
    const marker = ['TO', 'DO'].join('');
    assertFound(code, `\n// ${marker}: later`, 2, /do it, or write what is missing/);
    assertFound('docs/a.md', ['FIX', 'ME'].join(''), 1, /do it, or write what is missing/);
    assertClean(code, `const ${marker.toLowerCase()}s = 1;`);
  });

  test('no place of one machine is named', () => {
    assertFound(code, `\nconst a = '${['/home', 'me/b'].join('/')}';`, 2, /only one machine has/);
    assertFound('docs/a.md', `see ${['shared', 'style.md'].join('/')}`, 1, /only one machine has/);
    assertClean(code, `const a = '/v1/home/x'; const b = 'https://a.example/work/c'; const d = '../shared/e.ts';`);
  });
});

describe('citations', () => {
  const pages = {
    'docs/api.md': '# API\n\n## Errors\n\n```sh\n# Lists\n```\n',
    'docs/adr/0003-movements.md': '# 3. Movements\n\n[Errors](../api.md#errors)\n',
  };
  const citing = (path: string, text: string) => findingsIn(path, text, pages).join('\n');

  const leadNowhere: [comment: string, message: RegExp][] = [
    ['// networks.md, 8.3', /cites networks\.md, which is not in the repository/],
    ['/** @see docs/gone.md */', /cites docs\/gone\.md/],
    ['// api.md, "Errors"', /cites api\.md, which is not/],
    ['// docs/api.md, "Lists"', /"Lists" of docs\/api\.md, which has no such heading/],
    ['// docs/api.md, "Errors" and "Wrappers"', /"Wrappers" of docs\/api\.md/],
    ['/**\n * As docs/api.md, "No\n * such", says.\n */', /"No such" of docs\/api\.md/],
    ['// docs/adr/0009', /cites docs\/adr\/0009/],
    ['// docs/adr/0003-deltas.md', /cites docs\/adr\/0003-deltas/],
    ['// ADR 3', /cites ADR 3, which leads nowhere/],
    ['// see decision 12', /cites decision 12/],
    ['// decisions, "Errors"', /cites decisions, "E/],
    ['// so says Api,\n// section 3', /cites Api, section 3/],
  ];
  for (const [comment, message] of leadNowhere)
    test(`that lead nowhere are found: ${comment.replaceAll('\n', ' ')}`, () =>
      assert.match(citing(code, `${comment}\nexport const a = 1;`) || 'nothing was found', message));

  test('that lead to a page, a heading or a decision pass', () => {
    const comment = '// docs/api.md; docs/api.md, "API" and\n// "Errors" (docs/adr/0003, docs/errors/<code>.md).';
    assert.equal(citing(code, `${comment}\nexport const a = 'networks.md';`), '');
  });

  test('of migrations and links between pages are followed too', () => {
    assert.match(citing(next, '-- The first\n-- of decisions, "Errors".\nSELECT 1;'), /:1 cites decisions/);
    assert.match(citing('docs/b.md', 'See [them](api.md#lists).'), /links to #lists of docs\/api\.md/);
    assert.match(citing('docs/b.md', 'See [them](#errors).'), /links to #errors of docs\/b\.md/);
  });
});

describe('documentation', () => {
  const codes = `export const errorCodes = {\n  not_found: { status: 404, title: 'It isn\\'t here' },\n} as const;`;
  const codesFile = 'server/src/kit/error-codes.ts';

  test('every error code has its page, and every page its code', () => {
    assertFound(codesFile, codes, 2, /not_found has no page docs\/errors\/not_found\.md/);
    const page = { 'docs/errors/not_found.md': `# It isn't here\n` };
    assert.deepEqual(findingsIn(codesFile, codes, page), []);
    const wrongPage = { 'docs/errors/not_found.md': '# Missing\n' };
    assert.match(findingsIn(codesFile, codes, wrongPage).join(), /not_found\.md:1 is headed “Missing”/);
    const orphan = { ...page, 'docs/errors/gone.md': '# Gone\n' };
    assert.match(findingsIn(codesFile, codes, orphan).join(), /gone\.md:1 describes a code that/);
  });

  test('every package has its reason', () => {
    const packages = `{\n"dependencies": { "pg": "1", "@a/b": "1" } }`;
    const reasons = { 'docs/dependencies.md': '| `pg` | the driver |' };
    assert.match(
      findingsIn('package.json', packages, reasons).join(),
      /package\.json:2 depends on @a\/b; give the reason/,
    );
    assert.deepEqual(findingsIn('package.json', packages, { 'docs/dependencies.md': '`pg`, `@a/*`' }), []);
  });
});
