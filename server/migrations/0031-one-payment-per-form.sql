-- Pressing the button twice makes one payment, also on two processes.
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS payment_intents_form_hash_key
  ON payment_intents (merchant_id, form_hash) WHERE form_hash IS NOT NULL;
