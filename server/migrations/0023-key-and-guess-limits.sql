-- Limits of requests within a merchant, and of what nobody shows a key for.

-- One row a key of a merchant that has several, shared by all API processes. Unlogged, like rate_limits: after a crash
-- everybody starts with a full allowance.
CREATE UNLOGGED TABLE key_limits (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  -- The theoretical arrival time of the generic cell rate algorithm, in microseconds since 1970.
  arrival_us bigint NOT NULL,
  CONSTRAINT key_limits_pkey PRIMARY KEY (merchant_id, key_id)
);

-- One row a limit that belongs to no merchant, such as how many codes of counters may be guessed at all of them together.
-- Not led by a merchant: a guess is made before anybody knows whose counter it is at.
CREATE UNLOGGED TABLE service_limits (
  name text NOT NULL,
  arrival_us bigint NOT NULL,
  CONSTRAINT service_limits_pkey PRIMARY KEY (name)
);
