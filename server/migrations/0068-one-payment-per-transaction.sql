-- A transaction of a network pays once, whichever of a merchant's tills has its receipt: one phone may forward a message to several.
CREATE INDEX receipts_network_key_idx ON receipts (merchant_id, network, transaction_key);
CREATE UNIQUE INDEX receipts_paid_key ON receipts (merchant_id, network, transaction_key) WHERE charge_id IS NOT NULL;

-- When a shop's phone was last seen: one that is off or has lost its network forwards nothing, and no payment succeeds.
CREATE TABLE receipt_phones (
  merchant_id uuid NOT NULL,
  rail_account text NOT NULL,
  -- By any request that its key has signed.
  seen_at timestamptz NOT NULL,
  -- By a sign of life, which an application sends at an interval; null where it sends none.
  pinged_at timestamptz,
  -- By a message of the network; null before the first.
  message_at timestamptz,
  CONSTRAINT receipt_phones_pkey PRIMARY KEY (merchant_id, rail_account),
  CONSTRAINT receipt_phones_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
