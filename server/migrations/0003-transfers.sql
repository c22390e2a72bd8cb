-- Money on its way out. Amounts are bututs; times come from the application.

-- One order to pay out, from its acceptance to its end. Its money is held (ledger_holds) from the same transaction on.
CREATE TABLE transfers (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Who ordered it: the merchant (`transfer`), or another part of the service on the merchant's behalf.
  kind text NOT NULL,
  status text NOT NULL,
  -- What the beneficiary gets; the fee is charged on top.
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  currency text NOT NULL,
  network text NOT NULL,
  -- As it was sent; the canonical form stands beside it for the network.
  account_number text NOT NULL,
  account_canonical text NOT NULL,
  beneficiary_name text,
  narration text,
  callback_url text,
  metadata json NOT NULL,
  -- Our own reference, the only one the network is given: the key under which it pays once.
  reference text NOT NULL,
  network_reference text,
  network_transaction_id text,
  -- Handles a connector needs again for its later calls, opaque to everyone else.
  network_handles json,
  -- How far the network has come: created (it cannot know of it), submitted (it may), final.
  progress text NOT NULL,
  -- How often it was handed to the network, always under the one reference, and when last.
  sends bigint NOT NULL,
  sent_at timestamptz,
  -- Why it is not sent just now: network_unavailable, float_empty.
  waiting_for text,
  failure_code text,
  failure_reason text,
  -- Why it waits for a person.
  review text,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  completed_at timestamptz,
  CONSTRAINT transfers_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT transfers_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT transfers_reference_key UNIQUE (merchant_id, reference),
  CONSTRAINT transfers_kind_check CHECK (kind IN ('transfer')),
  CONSTRAINT transfers_status_check CHECK (status IN ('pending', 'completed', 'failed', 'cancelled', 'reversed')),
  CONSTRAINT transfers_progress_check CHECK (progress IN ('created', 'submitted', 'final')),
  CONSTRAINT transfers_amount_check CHECK (amount > 0 AND fee >= 0)
);

-- What passed between us and a network on the way of a transfer, for the timeline: nothing is decided from it.
CREATE TABLE transfer_notes (
  merchant_id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  detail text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT transfer_notes_pkey PRIMARY KEY (merchant_id, transfer_id, id),
  CONSTRAINT transfer_notes_transfer_fkey FOREIGN KEY (merchant_id, transfer_id) REFERENCES transfers (merchant_id, id)
);

-- What a key of a route that pays out has made. It outlives the stored answer, so that the key never pays again.
ALTER TABLE idempotency_keys ADD COLUMN subject_id uuid;
