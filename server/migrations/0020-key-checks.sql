-- How a start finds out that its keys are the ones that this database was written with, and what has to outlive a key.

-- One row for KEY_PEPPER, and one for each seal key under which a value may be stored. No row for KEY_PEPPER in a database
-- with API keys: nobody has shown yet which pepper they are stored under. Not led by a merchant: the keys seal for all.
CREATE TABLE key_checks (
  setting text NOT NULL,
  -- HMAC-SHA-256 of a fixed text under a key that is derived from the checked one.
  check_value bytea NOT NULL,
  -- How sealed values name the seal key that opens them; of no use to anybody for a pepper.
  key_id bytea,
  created_at timestamptz NOT NULL,
  CONSTRAINT key_checks_pkey PRIMARY KEY (setting, check_value),
  CONSTRAINT key_checks_setting_check CHECK (setting IN ('SEAL_KEY', 'KEY_PEPPER')),
  CONSTRAINT key_checks_key_id_check CHECK ((setting = 'SEAL_KEY') = (key_id IS NOT NULL))
);

-- Secrets of the whole installation, sealed, so that they stay when the seal key is rotated. Not led by a merchant.
CREATE TABLE installation_secrets (
  name text NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT installation_secrets_pkey PRIMARY KEY (name)
);

-- What processes write to find out whether the database takes writes: a few rows that are written again and again, so
-- that processes that have ended leave nothing behind.
CREATE TABLE write_probes (
  slot bigint NOT NULL,
  written_at timestamptz NOT NULL,
  CONSTRAINT write_probes_pkey PRIMARY KEY (slot)
);
