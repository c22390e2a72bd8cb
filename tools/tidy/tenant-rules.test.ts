import { before, describe, test } from 'node:test';
import { assertClean, assertFound, queries, statement } from './findings.corpus.ts';
import { loadSqlParser } from './postgresql.ts';

before(loadSqlParser);

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
    'SELECT 1 FROM merchants WHERE EXISTS (SELECT 1 FROM notes WHERE notes.merchant_id = merchants.id)',
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
    'SELECT (SELECT 1 FROM notes WHERE notes.merchant_id = merchants.id) FROM merchants WHERE short_id = $1',
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
