-- Whether a number was paid before.
CREATE INDEX CONCURRENTLY IF NOT EXISTS transfers_number_idx ON transfers (merchant_id, account_canonical);
