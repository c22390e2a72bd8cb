import type { AdminClient } from '../admin-client.ts';

/**
 * The functions and views of the Citus extension that the commands use, with its refusals, in an ordinary database: tests run where
 * no cluster is. `npm run test:cluster` runs against a real one.
 */
export async function installStandIn(client: AdminClient): Promise<void> {
  await client.query(`
    CREATE TABLE stand_in_tables (
      table_name regclass PRIMARY KEY, citus_table_type text NOT NULL, distribution_column text NOT NULL, beside text
    );
    CREATE VIEW citus_tables AS SELECT table_name, citus_table_type, distribution_column FROM stand_in_tables;

    CREATE TABLE pg_dist_node (nodeid integer PRIMARY KEY, groupid integer, nodename text, nodeport integer, is_down boolean);
    INSERT INTO pg_dist_node VALUES (1, 0, 'coordinator', 5432, false), (2, 1, 'worker-1', 5432, false), (3, 2, 'worker-2', 5432, false);

    CREATE FUNCTION run_command_on_all_nodes(command text) RETURNS TABLE (nodeid integer, success boolean, result text)
    LANGUAGE plpgsql AS $$
    DECLARE answer text;
    BEGIN
      EXECUTE command INTO answer;
      RETURN QUERY SELECT node.nodeid, NOT node.is_down, CASE WHEN node.is_down THEN 'connection refused' ELSE answer END
        FROM pg_dist_node AS node;
    END $$;

    CREATE FUNCTION stand_in_place(placed text, kind text, by_column text, near text) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE other record;
    BEGIN
      FOR other IN
        SELECT CASE WHEN conrelid = placed::regclass THEN confrelid ELSE conrelid END::regclass AS name,
               conrelid = placed::regclass AS is_referring
        FROM pg_constraint WHERE contype = 'f' AND placed::regclass IN (conrelid, confrelid) AND conrelid <> confrelid
      LOOP
        IF NOT EXISTS (SELECT FROM stand_in_tables WHERE table_name = other.name) THEN
          RAISE EXCEPTION 'cannot distribute %, a foreign key connects it with the local table %', placed, other.name
            USING ERRCODE = '0A000';
        END IF;
      END LOOP;
      IF near <> 'none' AND NOT EXISTS (SELECT FROM stand_in_tables WHERE table_name = near::regclass) THEN
        RAISE EXCEPTION 'relation % is not distributed', near USING ERRCODE = '0A000';
      END IF;
      INSERT INTO stand_in_tables VALUES (placed::regclass, kind, by_column, near);
    END $$;
    CREATE FUNCTION create_distributed_table(name text, by_column text, colocate_with text) RETURNS void LANGUAGE sql AS
      $$ SELECT stand_in_place(name, 'distributed', by_column, colocate_with) $$;
    CREATE FUNCTION create_reference_table(name text) RETURNS void LANGUAGE sql AS
      $$ SELECT stand_in_place(name, 'reference', '<none>', 'none') $$;
    CREATE FUNCTION citus_add_local_table_to_metadata(name text) RETURNS void LANGUAGE sql AS
      $$ SELECT stand_in_place(name, 'local', '<none>', 'none') $$;
  `);
}
