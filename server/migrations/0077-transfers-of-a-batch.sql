-- A batch whose response was lost is sent again as it was.
CREATE INDEX CONCURRENTLY IF NOT EXISTS transfers_batch_idx ON transfers (merchant_id, batch_reference) WHERE batch_reference IS NOT NULL;
