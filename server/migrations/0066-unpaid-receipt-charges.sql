-- The unpaid payments of a till and an amount, to which a receipt that matched nothing may belong.
CREATE INDEX CONCURRENTLY IF NOT EXISTS charges_unpaid_directly_idx ON charges (merchant_id, rail_account, amount_paid, id)
  WHERE received_directly AND paid_at IS NULL;
