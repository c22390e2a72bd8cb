-- Some networks take many payouts in one call. What was sent together can only be sent again together.

ALTER TABLE transfers
  -- Our reference of the batch in which it was sent last, under which the network pays the batch once; null where it was sent alone.
  ADD COLUMN batch_reference text;

ALTER TABLE simulator.payouts
  -- What the client calls it, if not as its reference: that of a payout in a batch consists of the batch's key and a number.
  ADD COLUMN client_reference text;

-- The batches that the simulated Wave has taken. Their payouts are in simulator.payouts.
CREATE TABLE simulator.wave_batches (
  account text NOT NULL,
  -- Begins with the account.
  id text NOT NULL,
  -- The client's idempotency key.
  key text NOT NULL,
  -- Hash of the request, to tell a repetition from another request with the same key.
  fingerprint text NOT NULL,
  payout_count bigint NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT wave_batches_pkey PRIMARY KEY (account, id),
  CONSTRAINT wave_batches_key_key UNIQUE (account, key),
  CONSTRAINT wave_batches_count_check CHECK (payout_count > 0)
);
