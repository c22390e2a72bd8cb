-- Lists of the rare states. Written once, when a payment ends without money.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_intents_ended_idx ON payment_intents (merchant_id, status, id)
  WHERE status IN ('failed', 'cancelled', 'expired');
