-- Payments by what the payer pays, which is the amount that lists show: whoever searches "D1,250.00" reads this index alone.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_intents_total_idx
  ON payment_intents (merchant_id, (amount + CASE WHEN fee_payer = 'customer' THEN fee ELSE 0 END), id);
