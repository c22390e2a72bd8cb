-- Whether the payer sends the money straight to the merchant's own number, so that it is never in a balance.
ALTER TABLE charges ADD COLUMN received_directly boolean NOT NULL DEFAULT false;

-- The amount above which a statement line must confirm a receipt before it pays; null asks for none.
ALTER TABLE merchants ADD COLUMN receipt_confirm_above bigint;

-- What a network's message to a shop's phone, or a line of its statement, says of money that the shop has received.
CREATE TABLE receipts (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  rail_account text NOT NULL,
  network text NOT NULL,
  -- As the network writes it, and without regard to case, as people type it.
  transaction_id text NOT NULL,
  transaction_key text NOT NULL,
  amount bigint NOT NULL CONSTRAINT receipts_amount_check CHECK (amount > 0),
  currency text NOT NULL,
  payer_number text,
  payer_name text,
  -- The wallet's balance after it; null where the message has none.
  balance bigint,
  -- `unconfirmed` is of a message only; a statement line confirms or contradicts it.
  status text NOT NULL CONSTRAINT receipts_status_check CHECK (status IN ('unconfirmed', 'confirmed', 'contradicted')),
  -- When the network sent it, by the phone's clock or the statement.
  dated_at timestamptz NOT NULL,
  -- The charge that it has paid.
  charge_id uuid,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT receipts_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT receipts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT receipts_transaction_key UNIQUE (merchant_id, rail_account, transaction_key)
);
CREATE INDEX receipts_charge_idx ON receipts (merchant_id, charge_id) WHERE charge_id IS NOT NULL;
CREATE INDEX receipts_unmatched_idx ON receipts (merchant_id, id) WHERE charge_id IS NULL;
CREATE INDEX receipts_unconfirmed_idx ON receipts (merchant_id, rail_account, dated_at) WHERE status = 'unconfirmed';

-- The transaction ids that payers typed. One id is for one payment only.
CREATE TABLE typed_ids (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  rail_account text NOT NULL,
  transaction_key text NOT NULL,
  charge_id uuid NOT NULL,
  -- `contested`: a person looks at it, because it was typed for another payment too, or this one was paid already.
  state text NOT NULL CONSTRAINT typed_ids_state_check CHECK (state IN ('waiting', 'contested', 'refused', 'paid')),
  typed_at timestamptz NOT NULL,
  CONSTRAINT typed_ids_pkey PRIMARY KEY (merchant_id, intent_id, rail_account, transaction_key),
  CONSTRAINT typed_ids_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges (merchant_id, id)
);
CREATE INDEX typed_ids_transaction_idx ON typed_ids (merchant_id, rail_account, transaction_key);

-- `till` and `received_directly` are the pair of what went straight to a merchant's own number: no part of any balance.
ALTER TABLE ledger_accounts DROP CONSTRAINT ledger_accounts_kind_check;
ALTER TABLE ledger_accounts ADD CONSTRAINT ledger_accounts_kind_check CHECK (
  kind IN ('float', 'payable_pending', 'payable_available', 'sub', 'held', 'fees', 'network_costs', 'suspense',
    'receivable_merchant', 'sub_owed', 'due_from_subs', 'test_funding', 'bank', 'capital', 'unmatched', 'till',
    'received_directly')
  AND kind = split_part(account, ':', 1)
) NOT VALID;

-- `record`: the merchant has returned the money, and no network is called.
ALTER TABLE transfers DROP CONSTRAINT transfers_route_check;
ALTER TABLE transfers ADD CONSTRAINT transfers_route_check CHECK (route IN ('payout', 'network', 'record')) NOT VALID;
