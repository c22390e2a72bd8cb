-- A seal key that an operator has declared lost keeps its row. A process that still runs with the key cannot write it down
-- again: INSERT … ON CONFLICT DO NOTHING finds the row and leaves it as it is.
ALTER TABLE key_checks ADD COLUMN lost_at timestamptz;
ALTER TABLE key_checks ADD CONSTRAINT key_checks_lost_at_check CHECK (lost_at IS NULL OR setting = 'SEAL_KEY');
