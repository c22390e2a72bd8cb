-- Backups and drills that commands have finished, so that operators see how old the newest is. Not led by a merchant.
CREATE TABLE backup_runs (
  id uuid NOT NULL CONSTRAINT backup_runs_pkey PRIMARY KEY,
  kind text NOT NULL CONSTRAINT backup_runs_kind_check CHECK (kind IN ('backup', 'drill')),
  -- The backup's name in the backup directory.
  backup text NOT NULL,
  finished_at timestamptz NOT NULL,
  seconds bigint NOT NULL,
  -- How much older than the start of the drill the newest restored change was; of drills only.
  lost_seconds bigint,
  -- What went wrong, in a sentence; null where nothing did.
  problem text
);

-- That this database is a restored copy, which does no work that is due before an operator has released it.
CREATE TABLE restores (
  id uuid NOT NULL CONSTRAINT restores_pkey PRIMARY KEY,
  -- The backup's name; null where another program has restored it.
  backup text,
  restored_at timestamptz NOT NULL,
  -- The time of the newest change in it; null where that is not known.
  restored_to timestamptz,
  released_at timestamptz
);
