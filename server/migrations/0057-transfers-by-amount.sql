-- As payments are: the search by amount.
CREATE INDEX CONCURRENTLY IF NOT EXISTS transfers_amount_idx ON transfers (merchant_id, amount, id);
