-- What the simulated networks of the test environment remember. They stand in for somebody else's service, so nothing
-- here belongs to a merchant of ours: `account` is the merchant's account there, the short id that leads our references.
-- A schema of its own keeps it apart from the service's tables. Amounts are bututs; times come from the application.

CREATE SCHEMA simulator;

-- One collection. What it is at a moment follows from the row and that moment: a change that is still to come (money
-- that arrives late, a reversal) stands in planned_status from the start, and an open session ends at expires_at.
CREATE TABLE simulator.sessions (
  account text NOT NULL,
  -- Begins with the account, so that the id alone finds the row.
  id text NOT NULL,
  network text NOT NULL,
  -- The merchant's own reference: asking again with it answers the same session.
  reference text NOT NULL,
  -- Hash of the request, to tell a repetition from another request with the same reference.
  fingerprint text NOT NULL,
  shape text NOT NULL,
  status text NOT NULL,
  -- Why it failed, or will fail.
  failure_code text,
  planned_status text,
  planned_at timestamptz,
  -- Until then the network says that it does not know the session.
  visible_at timestamptz NOT NULL,
  amount bigint NOT NULL,
  -- What the payer pays in truth: another amount in one of the scenarios.
  amount_paid bigint NOT NULL,
  currency text NOT NULL,
  -- E.164 in the new form; null until the payer of a link says who they are, or for ever.
  payer_number text,
  payer_number_as_sent text,
  description text NOT NULL,
  return_url text NOT NULL,
  callback_url text NOT NULL,
  -- The one-time code that was "sent by SMS", where the payer is asked for one.
  code text,
  code_attempts_left bigint NOT NULL,
  -- There from the start, told only once the money moved.
  transaction_id text NOT NULL,
  -- The payer tapped, and the merchant's confirmation is awaited.
  approved_at timestamptz,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT sessions_pkey PRIMARY KEY (account, id),
  CONSTRAINT sessions_reference_key UNIQUE (account, network, reference),
  CONSTRAINT sessions_transaction_key UNIQUE (account, network, transaction_id),
  CONSTRAINT sessions_shape_check CHECK (shape IN ('redirect', 'push', 'push_then_confirm', 'code')),
  CONSTRAINT sessions_status_check CHECK (
    status IN ('open', 'complete', 'failed', 'expired', 'cancelled', 'reversed')
  ),
  CONSTRAINT sessions_planned_check CHECK (
    (planned_status IS NULL) = (planned_at IS NULL) AND planned_status IN ('complete', 'failed', 'reversed')
  ),
  CONSTRAINT sessions_failure_check CHECK (
    (status <> 'failed' AND planned_status IS DISTINCT FROM 'failed') OR failure_code IS NOT NULL
  ),
  CONSTRAINT sessions_amount_check CHECK (amount > 0 AND amount_paid > 0),
  CONSTRAINT sessions_code_check CHECK ((shape = 'code') = (code IS NOT NULL) AND code_attempts_left >= 0)
);
-- The simulated phone shows what waits for a number, whichever account it comes from.
CREATE INDEX sessions_payer_idx ON simulator.sessions (payer_number, created_at) WHERE payer_number IS NOT NULL;

-- Reports on their way to the merchant, written with the change they tell of. The row is the queue: once answered it
-- is deleted.
CREATE TABLE simulator.callbacks (
  account text NOT NULL,
  session_id text NOT NULL,
  id text NOT NULL,
  url text NOT NULL,
  network text NOT NULL,
  body text NOT NULL,
  -- When what it tells of happens; until then a later tap can still withdraw it.
  occurs_at timestamptz NOT NULL,
  due_at timestamptz NOT NULL,
  attempts bigint NOT NULL,
  CONSTRAINT callbacks_pkey PRIMARY KEY (account, session_id, id),
  CONSTRAINT callbacks_session_fkey FOREIGN KEY (account, session_id) REFERENCES simulator.sessions (account, id)
);
CREATE INDEX callbacks_due_idx ON simulator.callbacks (due_at);

-- A network that is down is down for one account and one number, so that one tester's outage is not another's.
CREATE TABLE simulator.outages (
  account text NOT NULL,
  network text NOT NULL,
  payer_number text NOT NULL,
  began_at timestamptz NOT NULL,
  -- Null lasts until somebody ends it.
  ends_at timestamptz,
  CONSTRAINT outages_pkey PRIMARY KEY (account, network, payer_number)
);
