-- What a key may do, until when, and from where. Existing keys keep all rights.
-- small table: a few rows for each merchant
ALTER TABLE api_keys
  ADD COLUMN scopes text[] NOT NULL DEFAULT '{read,charge,payout}',
  ADD COLUMN expires_at timestamptz,
  -- Addresses and networks in their shortest form; null is any.
  ADD COLUMN addresses text[],
  -- The key that replaced it.
  ADD COLUMN rolled_to uuid;

-- When and from where each API key was last used, a minute late at most. Apart from api_keys, which every node reads for every
-- request.
CREATE TABLE api_key_uses (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  used_at timestamptz NOT NULL,
  -- Null where a proxy passed on something that is no address.
  address text,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (merchant_id, key_id)
);
