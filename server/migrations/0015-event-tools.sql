-- Events that are sent again, and how receivers are doing.

ALTER TABLE webhook_deliveries
  -- Attempts that were made before the retry schedule last began: a resend begins it again, while `attempts` goes on,
  -- because it tells one claim from the next.
  ADD COLUMN attempts_before bigint NOT NULL DEFAULT 0;
-- What an endpoint has not received: counted, and sent again in the order in which it happened.
CREATE INDEX webhook_deliveries_missed_idx ON webhook_deliveries (merchant_id, endpoint_id, event_id)
  WHERE callback_url IS NULL AND status IN ('kept', 'failed');

CREATE INDEX events_kind_idx ON events (merchant_id, kind, id);

-- Beside the endpoints, whose rows change seldom: this one is written as attempts end.
CREATE TABLE webhook_endpoint_health (
  merchant_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  last_success_at timestamptz,
  -- The first attempt that failed after the last success; null while it answers.
  failing_since timestamptz,
  -- How the last attempt that failed ended: the status that came, or a word where none came.
  last_failure text,
  -- When the merchant was told that it fails.
  warned_at timestamptz,
  -- Of the events that tell of the endpoint itself.
  event_sequence bigint NOT NULL,
  CONSTRAINT webhook_endpoint_health_pkey PRIMARY KEY (merchant_id, endpoint_id),
  CONSTRAINT webhook_endpoint_health_endpoint_fkey FOREIGN KEY (merchant_id, endpoint_id)
    REFERENCES webhook_endpoints (merchant_id, id)
);
