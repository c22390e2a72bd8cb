-- When a collection at a simulated network ended, and when the network reversed it. Null while it has not, and in rows that were
-- written by an earlier release.
ALTER TABLE simulator.sessions ADD COLUMN ended_at timestamptz;
ALTER TABLE simulator.sessions ADD COLUMN reversed_at timestamptz;
