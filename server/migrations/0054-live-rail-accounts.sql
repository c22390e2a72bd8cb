-- The accounts at networks and aggregators that an operator has connected. Not led by a merchant: an account without a business
-- serves all of them. A name is never used again, because charges, floats and provider transactions keep it.
CREATE TABLE rail_accounts (
  name text NOT NULL CONSTRAINT rail_accounts_pkey PRIMARY KEY,
  -- What it speaks: networks/connector-kinds.ts.
  kind text NOT NULL,
  test_mode boolean NOT NULL,
  -- The business that it belongs to and serves; null for the operator's.
  business_id uuid,
  -- Null where nothing is called.
  base_url text,
  settings jsonb NOT NULL,
  -- The lowest goes first among the accounts of one network; null is the default of its kind and owner.
  position bigint,
  disabled_at timestamptz,
  -- Incremented by each change, so that processes see that they have to read again.
  version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL
);

-- The secrets of a rail account, sealed together. A rotation adds a version; an older one still verifies callbacks until it ends.
CREATE TABLE rail_credentials (
  rail_account text NOT NULL,
  version bigint NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamptz NOT NULL,
  -- Null for the newest.
  valid_until timestamptz,
  CONSTRAINT rail_credentials_pkey PRIMARY KEY (rail_account, version),
  CONSTRAINT rail_credentials_account_fkey FOREIGN KEY (rail_account) REFERENCES rail_accounts (name)
);
