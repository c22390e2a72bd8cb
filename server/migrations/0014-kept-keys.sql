-- Purges and readings that walked over everything that is kept for ever.

-- Keys that paid out are kept for ever; their answers are not. What has been forgotten is marked by a column of its own
-- rather than told by `response IS NULL`: an index that depends on the response would have to follow each request, which
-- writes its response last, while this one stays as it is (PostgreSQL calls such an update heap-only).
ALTER TABLE idempotency_keys ADD COLUMN is_forgotten boolean NOT NULL DEFAULT false;
-- Serves both purges. Keys that were forgotten before are marked by the purge once more, a batch at a time.
CREATE INDEX idempotency_keys_kept_idx ON idempotency_keys (created_at) WHERE NOT is_forgotten;
DROP INDEX idempotency_keys_created_idx;

-- What a merchant has collected and may not spend yet, in the order in which it came and went. No row is in them unless
-- the operator has set a delay.
CREATE INDEX ledger_movements_pending_debit_idx ON ledger_movements (merchant_id, id)
  WHERE debit_account = 'payable_pending';
CREATE INDEX ledger_movements_pending_credit_idx ON ledger_movements (merchant_id, id)
  WHERE credit_account = 'payable_pending';

-- Finds periods that are old enough to be forgotten.
CREATE INDEX settlement_periods_period_idx ON settlement_periods (period);
CREATE INDEX settlement_runs_period_idx ON settlement_runs (period);
