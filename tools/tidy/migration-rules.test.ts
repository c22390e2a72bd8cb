import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertClean, assertFound, findingsIn, next } from './findings.corpus.ts';
import { loadSqlParser } from './postgresql.ts';

before(loadSqlParser);

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
    ['ALTER TABLE charges ADD COLUMN a bigint, ADD CONSTRAINT b CHECK (a > 0) NOT VALID;', /one ALTER TABLE for each/],
    ['CREATE INDEX a ON charges (merchant_id, id);', /CREATE INDEX CONCURRENTLY IF NOT EXISTS/],
    ['CREATE INDEX CONCURRENTLY a ON charges (merchant_id, id);', /cannot be repeated/],
    ['TRUNCATE charges;', /do it in batches/],
    ['UPDATE charges SET id = NULL;', /do it in batches/],
    ['DELETE FROM charges;', /do it in batches/],
    ["DO 'BEGIN END';", /hides in a block/],
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
