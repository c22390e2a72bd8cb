-- How fast payments are made from the pages of links and counters, where nobody shows a key.

-- One row a link or counter, shared by all API processes. Unlogged: after a crash everybody starts with a full allowance.
-- The row stays when its link or counter is deleted: their own rows stay too, and it is smaller than they are.
CREATE UNLOGGED TABLE page_limits (
  merchant_id uuid NOT NULL,
  -- Of the link or the counter; ids of one are never those of the other.
  place_id uuid NOT NULL,
  -- The theoretical arrival time of the generic cell rate algorithm, in microseconds since 1970.
  arrival_us bigint NOT NULL,
  CONSTRAINT page_limits_pkey PRIMARY KEY (merchant_id, place_id)
);
