-- Requests that a simulated network received over the GSMA API: what a client's correlation id created, and how often its state was
-- polled. `subject_id` is a session or a payout of the simulator. Written in the transaction that creates the subject.
CREATE TABLE simulator.gsma_requests (
  account text NOT NULL,
  -- X-CorrelationID: the client's key of the request.
  correlation_id uuid NOT NULL,
  -- The provider's id of the request's state.
  server_id uuid NOT NULL,
  network text NOT NULL,
  operation text NOT NULL,
  subject_id text NOT NULL,
  -- The most polls that the provider accepts; null where it calls back.
  poll_limit bigint,
  polls bigint NOT NULL,
  CONSTRAINT gsma_requests_pkey PRIMARY KEY (account, correlation_id),
  CONSTRAINT gsma_requests_server_key UNIQUE (account, server_id),
  CONSTRAINT gsma_requests_operation_check CHECK (operation IN ('collection', 'payout')),
  CONSTRAINT gsma_requests_polls_check CHECK (polls >= 0 AND poll_limit > 0)
);
