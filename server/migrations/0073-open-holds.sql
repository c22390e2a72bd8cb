-- What is held now, among all that ever was: read every few minutes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS ledger_holds_open_idx ON ledger_holds (merchant_id, currency) WHERE status = 'open';
