-- Payouts above an amount wait until a second person of the business approves them.

ALTER TABLE businesses
  -- Bututs; what people ask to pay out above it needs a second person. Null: nothing does.
  ADD COLUMN approve_transfers_above bigint;
ALTER TABLE businesses
  ADD CONSTRAINT businesses_approve_transfers_check CHECK (approve_transfers_above >= 0) NOT VALID;

-- What one person has asked to pay out. Never changed: whether it was approved stands in transfer_decisions.
CREATE TABLE transfer_requests (
  merchant_id uuid NOT NULL,
  -- That of the form, so that two taps ask once; a part of the transfer's idempotency key.
  id uuid NOT NULL,
  -- The login and the name that it had.
  requested_by uuid NOT NULL,
  requested_by_name text NOT NULL,
  amount bigint NOT NULL,
  -- As the API's operation takes it.
  body jsonb NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT transfer_requests_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT transfer_requests_by_key UNIQUE (merchant_id, id, requested_by),
  CONSTRAINT transfer_requests_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
CREATE INDEX transfer_requests_created_idx ON transfer_requests (merchant_id, created_at DESC);

-- At most one for each request: whoever comes second gets nothing done.
CREATE TABLE transfer_decisions (
  merchant_id uuid NOT NULL,
  request_id uuid NOT NULL,
  requested_by uuid NOT NULL,
  decided_by uuid NOT NULL,
  decided_by_name text NOT NULL,
  decision text NOT NULL,
  -- What was paid out in the same transaction.
  transfer_id uuid,
  created_at timestamptz NOT NULL,
  CONSTRAINT transfer_decisions_pkey PRIMARY KEY (merchant_id, request_id),
  CONSTRAINT transfer_decisions_request_fkey FOREIGN KEY (merchant_id, request_id, requested_by)
    REFERENCES transfer_requests (merchant_id, id, requested_by),
  CONSTRAINT transfer_decisions_decision_check CHECK (decision IN ('approved', 'declined')),
  CONSTRAINT transfer_decisions_transfer_check CHECK ((decision = 'approved') = (transfer_id IS NOT NULL)),
  -- Whoever asks may take it back, and never approve it.
  CONSTRAINT transfer_decisions_second_person_check CHECK (decision = 'declined' OR decided_by <> requested_by)
);
