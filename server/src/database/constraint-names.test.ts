import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findUnnamedConstraints } from './constraint-names.ts';
import { migrationsFolder, readMigrations } from './migration-files.ts';

test('constraints without a name are found with their lines', () => {
  const sql = `CREATE TABLE t (
    id bigint PRIMARY KEY,
    a bigint UNIQUE,
    b bigint REFERENCES p (id),
    c bigint CHECK (c > 0),
    FOREIGN KEY (b) REFERENCES p (id)
  );
  ALTER TABLE t ADD EXCLUDE USING gist (a WITH =);`;
  assert.deepEqual(findUnnamedConstraints(sql), [
    'line 2: PRIMARY KEY',
    'line 3: UNIQUE',
    'line 4: REFERENCES',
    'line 5: CHECK',
    'line 6: FOREIGN KEY',
    'line 8: EXCLUDE',
  ]);
});

test('named constraints, unique indexes, comments and texts are no breach', () => {
  const sql = `CREATE TABLE t ( -- the PRIMARY KEY
    id bigint CONSTRAINT t_pkey PRIMARY KEY,
    a text DEFAULT 'CHECK UNIQUE' CONSTRAINT t_a_key UNIQUE,
    CONSTRAINT t_b_fkey FOREIGN KEY (b) REFERENCES p (id),
    CONSTRAINT t_c_check CHECK (c > 0) /* CHECK (c < 9) */
  );
  CREATE UNIQUE INDEX t_d_key ON t (d);
  ALTER TABLE t DROP CONSTRAINT t_c_check;`;
  assert.deepEqual(findUnnamedConstraints(sql), []);
});

test('dropping a named constraint does not lend its name to the next', () => {
  assert.deepEqual(findUnnamedConstraints('ALTER TABLE t DROP CONSTRAINT old, ADD UNIQUE (a);'), ['line 1: UNIQUE']);
});

test('every constraint of the migrations has a name', () => {
  const found = readMigrations(migrationsFolder).flatMap(({ name, text }) =>
    findUnnamedConstraints(text).map((place) => `${name}, ${place}`),
  );
  assert.deepEqual(found, []);
});
