-- Money whose owner is not known yet, and what became of it: read at each scrape of the metrics.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_movements_clearing_idx ON ledger_movements (merchant_id, source_id)
  WHERE credit_account IN ('suspense', 'unmatched') OR debit_account IN ('suspense', 'unmatched');
