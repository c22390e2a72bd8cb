-- Payments by the time when their money came, as figures count them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS charges_paid_idx ON charges (merchant_id, paid_at) WHERE paid_at IS NOT NULL;
