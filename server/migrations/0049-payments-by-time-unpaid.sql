-- The payments that ended without money, by the time when they did, as figures count them. Written once for each.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_intents_unpaid_idx ON payment_intents (merchant_id, unpaid_at)
  WHERE unpaid_at IS NOT NULL;
