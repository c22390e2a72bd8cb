/** What to do with a server that the operator runs: over SQL nobody can copy its files. */
export const ownServerHelp = `DATABASE_URL is your own PostgreSQL, which its own tools back up (docs/operations.md, "Your own PostgreSQL").
For example, as a role with REPLICATION: pg_basebackup --pgdata=<new directory> --wal-method=stream --checkpoint=fast --dbname=<URL>
and archive_mode=on with archive_timeout=60 and an archive_command, or pgBackRest, which does both.
After a restore, before the first start on the copy: npm run operator -- database prepare, restore hold, ledger verify.`;
