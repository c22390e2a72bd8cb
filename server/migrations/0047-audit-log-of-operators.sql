-- What operators did, in all businesses and the installation, the newest first: the console's audit log.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entries_operators_idx ON audit_entries (id) WHERE actor_type = 'operator';
