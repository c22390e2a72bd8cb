-- What came of an action: done, or refused, as a sign-in with a wrong password.
ALTER TABLE audit_entries ADD COLUMN result text NOT NULL DEFAULT 'done';

-- API keys act too: they change endpoints and destinations of payouts.
ALTER TABLE audit_entries DROP CONSTRAINT audit_entries_actor_type_check;
ALTER TABLE audit_entries
  ADD CONSTRAINT audit_entries_actor_type_check CHECK (actor_type IN ('member', 'operator', 'system', 'key')) NOT VALID;

-- From where an API key was used before: an IPv4 address, or a /64 network. Written once for each.
CREATE TABLE api_key_addresses (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  address text NOT NULL,
  first_used_at timestamptz NOT NULL,
  CONSTRAINT api_key_addresses_pkey PRIMARY KEY (merchant_id, key_id, address)
);
