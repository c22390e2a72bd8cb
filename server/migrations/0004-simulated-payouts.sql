-- What the simulated networks of the test environment remember of payouts. As with collections, nothing here belongs to
-- a merchant of ours: `account` is the merchant's account there. Amounts are bututs; times come from the application.

-- One payout. The row never changes: what the payout is at a moment follows from the row and that moment, because what
-- is still to come (money that arrives late, a reversal) stands in planned_status from the start.
CREATE TABLE simulator.payouts (
  account text NOT NULL,
  -- Begins with the account, so that the id alone finds the row.
  id text NOT NULL,
  network text NOT NULL,
  -- The merchant's own reference: asking again with it answers the same payout.
  reference text NOT NULL,
  -- Hash of the request, to tell a repetition from another request with the same reference.
  fingerprint text NOT NULL,
  status text NOT NULL,
  -- Why it failed, or will fail.
  failure_code text,
  planned_status text,
  planned_at timestamptz,
  -- Until then the network says that it does not know the payout.
  visible_at timestamptz NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- E.164 in the new form.
  beneficiary_number text NOT NULL,
  beneficiary_number_as_sent text NOT NULL,
  beneficiary_name text,
  description text NOT NULL,
  callback_url text NOT NULL,
  -- There from the start, told only once the money moved.
  transaction_id text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT payouts_pkey PRIMARY KEY (account, id),
  CONSTRAINT payouts_reference_key UNIQUE (account, network, reference),
  CONSTRAINT payouts_transaction_key UNIQUE (account, network, transaction_id),
  CONSTRAINT payouts_status_check CHECK (status IN ('pending', 'completed', 'failed')),
  CONSTRAINT payouts_planned_check CHECK (
    (planned_status IS NULL) = (planned_at IS NULL) AND planned_status IN ('completed', 'failed', 'reversed')
  ),
  CONSTRAINT payouts_failure_check CHECK (
    (status <> 'failed' AND planned_status IS DISTINCT FROM 'failed') OR failure_code IS NOT NULL
  ),
  CONSTRAINT payouts_amount_check CHECK (amount > 0)
);
-- The simulated phone shows what arrived for a number, whichever account it comes from.
CREATE INDEX payouts_beneficiary_idx ON simulator.payouts (beneficiary_number, created_at);

-- Reports tell of payouts too: what they are about is a session or a payout, written in the same transaction.
ALTER TABLE simulator.callbacks DROP CONSTRAINT callbacks_session_fkey;
ALTER TABLE simulator.callbacks RENAME COLUMN session_id TO subject_id;

-- A network that takes no payouts, for one account and one number. Collecting has outages of its own.
CREATE TABLE simulator.payout_outages (
  account text NOT NULL,
  network text NOT NULL,
  beneficiary_number text NOT NULL,
  began_at timestamptz NOT NULL,
  -- Null lasts until somebody ends it.
  ends_at timestamptz,
  CONSTRAINT payout_outages_pkey PRIMARY KEY (account, network, beneficiary_number)
);

-- What the operator holds at a network to pay out from, for one account and one number, where it has ever run out.
CREATE TABLE simulator.floats (
  account text NOT NULL,
  network text NOT NULL,
  beneficiary_number text NOT NULL,
  state text NOT NULL,
  changed_at timestamptz NOT NULL,
  CONSTRAINT floats_pkey PRIMARY KEY (account, network, beneficiary_number),
  CONSTRAINT floats_state_check CHECK (state IN ('empty', 'filled'))
);
-- The simulated phone of a number offers to fill them.
CREATE INDEX floats_beneficiary_idx ON simulator.floats (beneficiary_number);
