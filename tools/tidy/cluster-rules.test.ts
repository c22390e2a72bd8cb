import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { routesOf, writeRoutes } from './cluster-rules.ts';
import { assertClean, assertFound, findingsIn, queries, statement } from './findings.corpus.ts';
import { loadSqlParser } from './postgresql.ts';

before(loadSqlParser);

const across = '-- across merchants: for a test\n';

describe('a statement that a cluster refuses', () => {
  const refused: [sql: string, message: RegExp][] = [
    [
      'SELECT 1 FROM merchants WHERE EXISTS (SELECT 1 FROM charges WHERE charges.merchant_id = merchants.id)',
      /merchant_places/,
    ],
    [
      'SELECT 1 FROM merchants CROSS JOIN LATERAL (SELECT id FROM charges WHERE merchant_id = merchants.id LIMIT 1) AS a',
      /merchant_places/,
    ],
    ['SELECT id FROM charges WHERE status = $1 FOR UPDATE', /locks rows of several merchants/],
    ['DELETE FROM charges WHERE ctid = ANY (ARRAY(SELECT ctid FROM charges LIMIT 5))', /ctid/],
    ['SELECT 1 FROM charges FULL JOIN transfers USING (merchant_id, id)', /UNION ALL and GROUP BY/],
    [
      'SELECT 1 FROM charges JOIN provider_transactions ON provider_transactions.subject_id = charges.id',
      /several placements/,
    ],
    ['SELECT 1 FROM charges JOIN operators ON operators.id = charges.id', /several placements/],
  ];
  for (const [sql, message] of refused)
    test(`is found: ${sql.slice(0, 70)}`, () => assertFound(queries, statement(`${across}${sql}`), 1, message));

  test('is found for one merchant too, where an upsert selects or slices', () => {
    const insert = 'INSERT INTO charges (merchant_id, id) VALUES ($1, $2) ON CONFLICT (merchant_id, id) DO UPDATE SET';
    const selects = statement(`${insert} a = (SELECT 1 FROM charges WHERE merchant_id = $1)`);
    assert.match(findingsIn(queries, selects).join(), /inside ON CONFLICT/);
    assertFound(queries, statement(`${insert} a = (array_prepend($2, charges.a))[1:10]`), 1, /trim_array/);
  });

  const accepted = [
    'SELECT merchant_places.merchant_id FROM merchant_places CROSS JOIN LATERAL (SELECT id FROM charges WHERE charges.merchant_id = merchant_places.merchant_id LIMIT 1) AS a',
    'SELECT id FROM charges WHERE merchant_id IN (SELECT id FROM merchants WHERE test_mode = $1)',
  ];
  for (const sql of accepted)
    test(`is not: ${sql.slice(0, 70)}`, () => assertClean(queries, statement(`${across}${sql}`)));
  test('is not: rows by ctid within one merchant', () =>
    assertClean(
      queries,
      statement(
        'DELETE FROM charges WHERE merchant_id = $1 AND ctid = ANY (ARRAY(SELECT ctid FROM charges WHERE merchant_id = $1))',
      ),
    ));
});

describe('the recorded routes', () => {
  const routeOf = (sql: string) => routesOf([{ path: queries, text: statement(sql) }])[0]?.route;

  test('tell one node from all, and each placement from the others', () => {
    assert.equal(routeOf('SELECT id FROM charges WHERE merchant_id = $1'), 'one merchant_id');
    assert.equal(routeOf(`${across}SELECT id FROM charges`), 'across merchant_id');
    assert.equal(routeOf('SELECT 1 FROM terminal_codes WHERE code = $1'), 'one code');
    assert.equal(routeOf('SELECT id FROM merchants WHERE id = $1'), 'reference');
    assert.equal(routeOf('SELECT id FROM accounts WHERE id = $1'), 'coordinator');
  });

  test('are out of date once a statement runs elsewhere', () => {
    const path = 'tools/tidy/statement-routes.txt';
    const before = writeRoutes(
      routesOf([{ path: queries, text: statement('SELECT id FROM charges WHERE merchant_id = $1') }]),
    );
    const findings = findingsIn(queries, statement(`${across}SELECT id FROM charges`), { [path]: before });
    assert.match(findings.join(), /now “across merchant_id: charges_find”/);
  });
});
