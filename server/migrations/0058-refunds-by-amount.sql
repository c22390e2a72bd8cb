-- As payments are: the search by amount.
CREATE INDEX CONCURRENTLY IF NOT EXISTS refunds_amount_idx ON refunds (merchant_id, amount, id);
