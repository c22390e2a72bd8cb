-- Names say what docs/glossary.md says. The first release has not been made: nothing that is released knows the old names.
-- contracts: recorded as released statements under the new names
ALTER TABLE network_receipts RENAME TO provider_transactions;
-- contracts: recorded as released statements under the new names
ALTER TABLE provider_transactions RENAME CONSTRAINT network_receipts_pkey TO provider_transactions_pkey;
-- contracts: recorded as released statements under the new names
ALTER TABLE customer_turns RENAME TO customer_locks;
-- contracts: recorded as released statements under the new names
ALTER TABLE customer_locks RENAME CONSTRAINT customer_turns_pkey TO customer_locks_pkey;
-- contracts: recorded as released statements under the new names
ALTER TABLE customer_locks RENAME CONSTRAINT customer_turns_merchant_fkey TO customer_locks_merchant_fkey;
-- contracts: recorded as released statements under the new names
ALTER TABLE network_inbox RENAME COLUMN lane TO shard;
-- contracts: recorded as released statements under the new names
ALTER TABLE network_inbox RENAME COLUMN news TO notifications;
-- contracts: recorded as released statements under the new names
ALTER TABLE network_prompt_times RENAME COLUMN asked_at TO prompted_at;
-- contracts: recorded as released statements under the new names
ALTER TABLE circuit_breakers RENAME COLUMN failed_probes TO failed_trials;
-- contracts: recorded as released statements under the new names
ALTER TABLE page_limits RENAME COLUMN place_id TO page_owner_id;
-- contracts: recorded as released statements under the new names
ALTER TABLE webhook_attempts RENAME COLUMN answer TO response;
ALTER INDEX idempotency_keys_kept_idx RENAME TO idempotency_keys_unpurged_idx;
