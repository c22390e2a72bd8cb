-- What a merchant's movements up to some moment sum to, so that the balances can be compared with them every few minutes without
-- reading all movements. Computed from ledger_movements, and computed again whenever they seem to disagree.
CREATE TABLE ledger_checkpoints (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  -- The balance by the movements up to the checkpoint.
  moved bigint NOT NULL,
  CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY (merchant_id, account, currency)
);

-- How far a merchant's checkpoint goes, and what the last comparison has found.
CREATE TABLE ledger_checks (
  merchant_id uuid NOT NULL,
  -- The last movement in the checkpoint.
  through_id uuid NOT NULL,
  -- When the balances were last compared with the movements.
  checked_at timestamptz NOT NULL,
  -- What is wrong, in a sentence; null where nothing is.
  problem text,
  CONSTRAINT ledger_checks_pkey PRIMARY KEY (merchant_id)
);
