-- Payments by the number that they were paid from, as the dashboard searches them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS charges_number_idx ON charges (merchant_id, account_canonical, intent_id)
  WHERE account_canonical IS NOT NULL;
