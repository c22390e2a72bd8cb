-- Payments by the number given for the payer. The last seven digits are what its 7-digit and its 9-digit form share.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payment_intents_payer_number_idx
  ON payment_intents (merchant_id, right(regexp_replace(customer_phone, '\D', '', 'g'), 7), id)
  WHERE customer_phone IS NOT NULL;
