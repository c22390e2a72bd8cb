import type pg from 'pg';

/**
 * Keys of tables of merchants that do not begin with `merchant_id`, each with its reason: `table` for all keys of a table,
 * `table.index` for one.
 */
export const keyedForThemselves: Record<string, string> = {
  'api_keys.api_keys_hmac_key': 'a key is looked up by its HMAC before the merchant is known',
  terminal_codes: 'a code is typed before anybody knows whose counter it is at',
  provider_transactions: 'a transaction id of a network settles one thing only, whichever merchant it is for',
  statement_lines: 'a line is of an account at a network, which may serve all merchants',
  reconciliation_days: 'a day is of an account at a network, which may serve all merchants',
  reconciliation_differences: 'a difference is of an account at a network, which may serve all merchants',
};

/**
 * Checks the rules by which the schema also fits a sharded database (docs/database.md, "Rules that keep it scalable").
 * Returns a sentence for each breach.
 */
export async function findCatalogueBreaches(
  client: pg.Client,
  exceptions: Record<string, string> = keyedForThemselves,
): Promise<string[]> {
  const [keys, foreignKeys, others] = [
    await readKeysNotLedByMerchant(client),
    await readForeignKeysNotLedByMerchant(client),
    await readOtherBreaches(client),
  ];
  const names = new Set([...keys.map(({ table }) => table), ...keys.map(({ table, key }) => `${table}.${key}`)]);
  const unused = Object.keys(exceptions).filter((name) => !names.has(name));
  return [
    ...keys
      .filter(({ table, key }) => !(table in exceptions) && !(`${table}.${key}` in exceptions))
      .map(({ table, key }) => `${table}: ${key} does not have merchant_id as its first column`),
    ...foreignKeys.map(
      ({ table, key }) => `${table}: the foreign key ${key} does not have merchant_id as its first column`,
    ),
    ...others.map(({ text }) => text),
    ...unused.map((name) => `${name} is an exception that is no longer needed`),
  ];
}

interface Key {
  table: string;
  key: string;
}

const ourSchemas = `SELECT oid FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'`;

const tablesOfMerchants = `
  SELECT c.oid, a.attnum AS merchant
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'merchant_id' AND NOT a.attisdropped
   WHERE c.relkind IN ('r', 'p') AND c.relnamespace IN (${ourSchemas})`;

async function readKeysNotLedByMerchant(client: pg.Client): Promise<Key[]> {
  const { rows } = await client.query<Key>(
    `SELECT t.oid::regclass::text AS table, x.indexrelid::regclass::text AS key
       FROM (${tablesOfMerchants}) t JOIN pg_index x ON x.indrelid = t.oid
      WHERE (x.indisunique OR x.indisexclusion) AND x.indkey[0] <> t.merchant
      ORDER BY 1, 2`,
  );
  return rows;
}

async function readForeignKeysNotLedByMerchant(client: pg.Client): Promise<Key[]> {
  const { rows } = await client.query<Key>(
    `SELECT t.oid::regclass::text AS table, k.conname AS key
       FROM (${tablesOfMerchants}) t JOIN pg_constraint k ON k.conrelid = t.oid
      WHERE k.contype = 'f' AND k.conkey[1] <> t.merchant
      ORDER BY 1, 2`,
  );
  return rows;
}

async function readOtherBreaches(client: pg.Client): Promise<{ text: string }[]> {
  const { rows } = await client.query<{ text: string }>(
    `SELECT s.seqrelid::regclass || ' counts in ' || s.seqtypid::regtype || ', which runs out; make it bigint' AS text
       FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
      WHERE c.relnamespace IN (${ourSchemas}) AND s.seqtypid <> 'bigint'::regtype
      UNION ALL
     SELECT a.attrelid::regclass || '.' || a.attname || ' takes ' || format_type(a.atttypid, NULL)
            || ' from a sequence, which runs out; make it bigint'
       FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
       LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE c.relnamespace IN (${ourSchemas}) AND a.atttypid IN ('integer'::regtype, 'smallint'::regtype)
        AND (a.attidentity <> '' OR pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%')
      UNION ALL
     SELECT k.conrelid::regclass || ': ' || k.conname || ' is deferrable; what fails only at COMMIT loses its reason'
       FROM pg_constraint k WHERE k.condeferrable AND k.connamespace IN (${ourSchemas})
      UNION ALL
     SELECT k.conrelid::regclass || ': ' || k.conname || ' sets columns to null or their default on delete'
       FROM pg_constraint k WHERE k.confdeltype IN ('n', 'd') AND k.connamespace IN (${ourSchemas})
      UNION ALL
     SELECT g.tgrelid::regclass || ': ' || g.tgname || ' is a trigger'
       FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid
      WHERE NOT g.tgisinternal AND c.relnamespace IN (${ourSchemas})
      UNION ALL
     SELECT c.oid::regclass || ' has no primary key'
       FROM pg_class c
      WHERE c.relkind IN ('r', 'p') AND c.relnamespace IN (${ourSchemas})
        AND NOT EXISTS (SELECT FROM pg_index x WHERE x.indrelid = c.oid AND x.indisprimary)
      ORDER BY 1`,
  );
  return rows;
}
