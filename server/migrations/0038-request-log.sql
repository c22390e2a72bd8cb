-- What merchants sent to the API and what it returned, for their developers: 30 days, secrets masked. Written after the response.
CREATE TABLE request_log (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  request_id text NOT NULL,
  key_id uuid NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  -- After the question mark, masked.
  query text,
  status_code bigint NOT NULL,
  duration_ms bigint NOT NULL,
  idempotency_key text,
  error_code text,
  -- Masked, then cut. Null for what is stored without a body.
  request_body text,
  response_body text,
  created_at timestamptz NOT NULL,
  CONSTRAINT request_log_pkey PRIMARY KEY (merchant_id, id)
);

CREATE INDEX request_log_request_idx ON request_log (merchant_id, request_id);
CREATE INDEX request_log_idempotency_idx ON request_log (merchant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
