-- Circuit breakers of payouts, shared by all processes. They come in place of the pauses, which knew whole networks only
-- and forgot whose sends had failed. What was paused is found out again by the next send.
DROP TABLE network_pauses;

-- Not led by a merchant: what a breaker of a whole network holds back is everybody's.
CREATE TABLE circuit_breakers (
  network text NOT NULL,
  test_mode boolean NOT NULL,
  rail_account text NOT NULL,
  -- Empty for everybody, '<merchant id>' for one merchant, '<merchant id>:<canonical number>' for one merchant's payouts to
  -- one number.
  scope text NOT NULL,
  state text NOT NULL,
  -- Null while it is closed.
  reason text,
  opened_at timestamptz,
  -- When the next send may go out as a probe; while half-open, when the probe that is under way counts as lost.
  retry_at timestamptz,
  failed_probes bigint NOT NULL,
  -- Sends without an answer that could be understood, with no other answer between them, and whose they were.
  failures_in_a_row bigint NOT NULL,
  failed_merchants uuid[] NOT NULL,
  -- Each write is guarded by the one before it.
  version bigint NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT circuit_breakers_pkey PRIMARY KEY (network, test_mode, rail_account, scope),
  CONSTRAINT circuit_breakers_state_check CHECK (state IN ('closed', 'open', 'half_open')),
  CONSTRAINT circuit_breakers_reason_check CHECK (reason IN ('network_unavailable', 'float_empty')),
  CONSTRAINT circuit_breakers_open_check CHECK (
    (state = 'closed') = (reason IS NULL) AND (state = 'closed') = (opened_at IS NULL)
    AND (state = 'closed') = (retry_at IS NULL)
  )
);
