-- The hash chain over a merchant's movements: each block holds the hash of some rows and of the block before it, so that whoever
-- changes, deletes or reorders a row has to write every later block again, and then no longer has the heads that were recorded.
CREATE TABLE movement_blocks (
  merchant_id uuid NOT NULL,
  -- From 1, without a gap.
  number bigint NOT NULL,
  hash bytea NOT NULL,
  -- The ids of the rows, in the order in which they are hashed.
  row_ids uuid[] NOT NULL,
  -- Eight bytes of each row's hash, to name the row that was changed.
  row_checks bytea NOT NULL,
  -- Rows of this block and all before it.
  rows_total bigint NOT NULL,
  -- The highest id of this block and all before it.
  through_id uuid NOT NULL,
  chained_at timestamptz NOT NULL,
  CONSTRAINT movement_blocks_pkey PRIMARY KEY (merchant_id, number)
);

-- The same over the audit log of a business.
CREATE TABLE audit_blocks (
  business_id uuid NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  row_ids uuid[] NOT NULL,
  row_checks bytea NOT NULL,
  rows_total bigint NOT NULL,
  through_id uuid NOT NULL,
  chained_at timestamptz NOT NULL,
  CONSTRAINT audit_blocks_pkey PRIMARY KEY (business_id, number)
);
