import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClean, assertFound, code, findingsIn, next, queries, statement } from './tidy/findings.corpus.ts';
import { loadSqlParser } from './tidy/postgresql.ts';

before(loadSqlParser);

describe('code', () => {
  test('the time comes from the Clock', () => {
    assertFound(code, 'const a = 1;\nconst now = new Date();', 2, /clock\.now\(\)/);
    assertFound(code, 'const text = `at ${new Date( )}`;', 1, /clock\.now\(\)/);
    assertFound(code, 'const text = Date();', 1, /clock\.now\(\)/);
    assertClean(code, `const at = new Date(row.at); // never new Date()\nconst text = 'new Date()'; toDate();`);
    assertClean('server/src/kit/clock.ts', 'export const now = new Date();');
    assertClean('server/src/payments/a.test.ts', 'const now = new Date();');
  });

  test('cookies are set in one place', () => {
    for (const text of [
      `reply.setCookie('a', 'b');`,
      `reply.header('Set-Cookie', 'a=b');`,
      `reply.clearCookie('a');`,
    ]) {
      assertFound(code, `\n${text}`, 2, /page-cookies\.ts/);
    }
    assertClean(code, 'request.cookies[name]; cookies.set(request, reply, cookie);');
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

  test('a test title has fewer than 100 characters as written', () => {
    const path = 'server/src/payments/a.test.ts';
    const words = 'a payment is paid once '.repeat(5);
    const [shortest, longest] = [words.slice(0, 100), words.slice(0, 99)];
    for (const call of ['test', 'it', 'describe', 't.test']) {
      assertFound(path, `\n${call}('${shortest}', () => {});`, 2, /a title of 100 characters; write one of 99 at most/);
      assertFound(path, `${call}(\n  \`${shortest}\`,\n  () => {},\n);`, 2, /a title of 100 characters/);
      assertClean(path, `${call}('${longest}', () => {});`);
    }
    const template = `\${days} ${'b'.repeat(92)}`;
    assertFound(path, `test(\`${template}\`, () => {});`, 1, /a title of 100 characters/);
    assertClean(path, `assert('${shortest}'); regular.test('${shortest}');`);
    assertClean(code, `test('${shortest}', () => {});`);
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

describe('words', () => {
  test('no notes are left behind', () => {
    const marker = ['TO', 'DO'].join('');
    assertFound(code, `\n// ${marker}: later`, 2, /do it, or write what is missing/);
    assertFound('docs/a.md', ['FIX', 'ME'].join(''), 1, /do it, or write what is missing/);
    assertClean(code, `const ${marker.toLowerCase()}s = 1;`);
  });

  test('a path of one machine is refused', () => {
    assertFound(code, `\nconst a = '${['/home', 'me/b'].join('/')}';`, 2, /only one machine has/);
    assertFound('docs/a.md', `see ${['shared', 'style.md'].join('/')}`, 1, /only one machine has/);
    assertClean(code, `const a = '/v1/home/x'; const b = 'https://a.example/work/c'; const d = '../shared/e.ts';`);
  });
});

describe('documentation', () => {
  const codes = `export const errorCodes = {\n  not_found: { status: 404, title: 'It isn\\'t here' },\n} as const;`;
  const codesFile = 'server/src/api/error-codes.ts';

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
