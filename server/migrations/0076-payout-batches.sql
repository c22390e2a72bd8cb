-- Some networks take many payouts in one call. What was sent together can only be sent again together.

ALTER TABLE transfers
  -- Our reference of the batch in which it was sent last, under which the network pays the batch once; null where it was sent alone.
  ADD COLUMN batch_reference text;

ALTER TABLE simulator.payouts
  -- What the client calls it, if not as its reference: that of a payout in a batch is the batch's and a number.
  ADD COLUMN client_reference text;

-- Payouts that a simulated network has taken in one call; they are in simulator.payouts.
CREATE TABLE simulator.payout_batches (
  account text NOT NULL,
  -- Begins with the account.
  id text NOT NULL,
  network text NOT NULL,
  -- The client's idempotency key.
  reference text NOT NULL,
  -- Hash of the request, to tell a repetition from another request with the same reference.
  fingerprint text NOT NULL,
  payout_count bigint NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT payout_batches_pkey PRIMARY KEY (account, id),
  CONSTRAINT payout_batches_reference_key UNIQUE (account, network, reference),
  CONSTRAINT payout_batches_count_check CHECK (payout_count > 0)
);
