-- The tables behind the first payment. Every tenant table is led by merchant_id (a merchant is one business in one
-- environment); the few that are not say why. Amounts are bututs. Times come from the application.

-- Identity ------------------------------------------------------------------------------------------------------------

CREATE TABLE businesses (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT businesses_pkey PRIMARY KEY (id)
);

-- One business in one environment. Small, rarely written and needed by every request: fit to be copied to every node.
CREATE TABLE merchants (
  id uuid NOT NULL,
  business_id uuid NOT NULL,
  -- Leads every public token of the merchant, so that a token finds its merchant without a look-up by value.
  short_id text NOT NULL,
  name text NOT NULL,
  test_mode boolean NOT NULL,
  currency text NOT NULL,
  fee_percent_hundredths bigint NOT NULL,
  fee_fixed bigint NOT NULL,
  fee_minimum bigint NOT NULL,
  fee_maximum bigint,
  fee_payer text NOT NULL,
  -- Requests a second; null takes the server's setting, 0 switches the limit off.
  rate_limit_per_second bigint,
  created_at timestamptz NOT NULL,
  CONSTRAINT merchants_pkey PRIMARY KEY (id),
  CONSTRAINT merchants_business_fkey FOREIGN KEY (business_id) REFERENCES businesses (id),
  CONSTRAINT merchants_short_id_key UNIQUE (short_id),
  CONSTRAINT merchants_business_environment_key UNIQUE (business_id, test_mode),
  CONSTRAINT merchants_short_id_check CHECK (short_id ~ '^[0-9A-Za-z]{8}$'),
  CONSTRAINT merchants_fee_payer_check CHECK (fee_payer IN ('business', 'customer')),
  CONSTRAINT merchants_fee_check CHECK (
    fee_percent_hundredths BETWEEN 0 AND 10000 AND fee_fixed >= 0 AND fee_minimum >= 0
    AND (fee_maximum IS NULL OR fee_maximum >= fee_minimum)
  )
);

-- Looked up by the key's HMAC before the merchant is known; small enough to be copied to every node, and therefore
-- never written when a key is used.
CREATE TABLE api_keys (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  key_hmac bytea NOT NULL,
  pepper_version bigint NOT NULL,
  last_four text NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CONSTRAINT api_keys_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT api_keys_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT api_keys_hmac_key UNIQUE (key_hmac)
);

-- Ledger --------------------------------------------------------------------------------------------------------------

-- An account is named by its kind and, where there are several of a kind, a reference: 'sub:<id>', 'float:<rail>'.
-- Its balance stands here as far as it has been folded; what has not is in ledger_deltas.
CREATE TABLE ledger_accounts (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  kind text NOT NULL,
  balance bigint NOT NULL,
  CONSTRAINT ledger_accounts_pkey PRIMARY KEY (merchant_id, account, currency),
  CONSTRAINT ledger_accounts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT ledger_accounts_kind_check CHECK (
    kind IN ('float', 'payable_pending', 'payable_available', 'sub', 'held', 'fees', 'network_costs', 'suspense',
             'receivable_merchant', 'sub_owed', 'due_from_subs', 'test_funding', 'bank', 'capital', 'unmatched')
    AND kind = split_part(account, ':', 1)
  ),
  -- What belongs to somebody cannot be spent twice. The accounts left out mirror the outside world (a float may be
  -- paid out before it is topped up) or collect what somebody else gave.
  CONSTRAINT ledger_accounts_not_negative_check CHECK (
    balance >= 0 OR kind IN ('float', 'network_costs', 'test_funding', 'bank', 'capital')
  )
);

-- Append-only: the serving role may insert and read, nothing else. A correction is another row.
CREATE TABLE ledger_movements (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  debit_account text NOT NULL,
  credit_account text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  -- Which rule moved the money (collected, refund, …) and for which record.
  flow text NOT NULL,
  source_type text NOT NULL,
  source_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT ledger_movements_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT ledger_movements_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT ledger_movements_amount_check CHECK (amount > 0),
  CONSTRAINT ledger_movements_accounts_check CHECK (debit_account <> credit_account)
);
CREATE INDEX ledger_movements_source_idx ON ledger_movements (merchant_id, source_id);

-- What a posting changed on an account and has not been folded into its balance yet. Collecting only ever inserts
-- here, so that payments never queue on the merchant's balance.
CREATE TABLE ledger_deltas (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  id uuid NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT ledger_deltas_pkey PRIMARY KEY (merchant_id, account, currency, id),
  CONSTRAINT ledger_deltas_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);

-- Money set aside for work under way. The balance of `held` is the sum of the open rows.
CREATE TABLE ledger_holds (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  source_type text NOT NULL,
  source_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  closed_at timestamptz,
  CONSTRAINT ledger_holds_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT ledger_holds_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT ledger_holds_source_key UNIQUE (merchant_id, source_type, source_id),
  CONSTRAINT ledger_holds_status_check CHECK (status IN ('open', 'settled', 'released')),
  CONSTRAINT ledger_holds_amount_check CHECK (amount > 0)
);

-- Payments ------------------------------------------------------------------------------------------------------------

-- Ids are UUIDs of version 7, so the primary key read backwards is the list, newest first.
CREATE TABLE payment_intents (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  fee_payer text NOT NULL,
  currency text NOT NULL,
  intent_secret text NOT NULL,
  checkout_token text NOT NULL,
  return_url text,
  cancel_url text,
  callback_url text,
  title text,
  description text,
  customer_id uuid,
  customer_name text,
  customer_email text,
  customer_phone text,
  -- The networks the page may offer; null offers all that are on.
  payment_methods text[],
  metadata json NOT NULL,
  -- Whether the intent was made by the API (`api`), behind a link or at a counter.
  source text NOT NULL,
  attempts bigint NOT NULL,
  late boolean NOT NULL,
  -- Why a charge of this intent waits for a person; an intent under review does not expire.
  review text,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT payment_intents_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT payment_intents_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT payment_intents_secret_key UNIQUE (merchant_id, intent_secret),
  CONSTRAINT payment_intents_checkout_token_key UNIQUE (merchant_id, checkout_token),
  CONSTRAINT payment_intents_status_check CHECK (
    status IN ('requires_payment_method', 'processing', 'successful', 'failed', 'cancelled', 'expired')
  ),
  CONSTRAINT payment_intents_amount_check CHECK (amount > 0 AND fee >= 0),
  CONSTRAINT payment_intents_fee_payer_check CHECK (fee_payer IN ('business', 'customer'))
);
-- Finds what is due to expire; a closed intent is not in it.
CREATE INDEX payment_intents_expiring_idx ON payment_intents (merchant_id, expires_at)
  WHERE status IN ('requires_payment_method', 'processing');

-- One attempt to pay an intent; its id is the transaction id.
CREATE TABLE charges (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  intent_id uuid NOT NULL,
  attempt bigint NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  fee_payer text NOT NULL,
  -- What the payer is asked for: the amount, and the fee when the customer pays it.
  amount_paid bigint NOT NULL,
  currency text NOT NULL,
  network text NOT NULL,
  -- As it was sent; the canonical form stands beside it for matching.
  account_number text,
  account_canonical text,
  -- Our reference of this attempt, the only one the network is given.
  reference text NOT NULL,
  transaction_reference text NOT NULL,
  network_reference text,
  network_transaction_id text,
  -- Handles a connector needs again for its later calls, opaque to everyone else.
  network_handles json,
  -- What the payer must still do, as the connector said it.
  next_action json,
  -- How far the network has come: created, submitted, awaiting_payer, unknown, final.
  progress text NOT NULL,
  failure_code text,
  failure_reason text,
  review text,
  late boolean NOT NULL,
  amount_refunded bigint NOT NULL,
  event_sequence bigint NOT NULL,
  paid_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT charges_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT charges_intent_fkey FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intents (merchant_id, id),
  CONSTRAINT charges_attempt_key UNIQUE (merchant_id, intent_id, attempt),
  CONSTRAINT charges_reference_key UNIQUE (merchant_id, reference),
  CONSTRAINT charges_transaction_reference_key UNIQUE (merchant_id, transaction_reference),
  CONSTRAINT charges_status_check CHECK (
    status IN ('pending', 'completed', 'failed', 'cancelled', 'refunded', 'reversed')
  ),
  CONSTRAINT charges_progress_check CHECK (
    progress IN ('created', 'submitted', 'awaiting_payer', 'unknown', 'final')
  ),
  CONSTRAINT charges_fee_payer_check CHECK (fee_payer IN ('business', 'customer')),
  CONSTRAINT charges_amount_check CHECK (amount > 0 AND fee >= 0 AND amount_refunded BETWEEN 0 AND amount_paid),
  CONSTRAINT charges_amount_paid_check CHECK (
    amount_paid = amount + CASE WHEN fee_payer = 'customer' THEN fee ELSE 0 END
  )
);

-- What passed between us and a network on the way of a charge, for the timeline: nothing is decided from it.
CREATE TABLE charge_notes (
  merchant_id uuid NOT NULL,
  charge_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  detail text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT charge_notes_pkey PRIMARY KEY (merchant_id, charge_id, id),
  CONSTRAINT charge_notes_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges (merchant_id, id)
);

-- What a person has to look at, because a rule may not decide it.
CREATE TABLE cases (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  -- The network's transaction id or another reference, '' where there is none: the same thing opens one case only.
  reference text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  summary text NOT NULL,
  created_at timestamptz NOT NULL,
  resolved_at timestamptz,
  CONSTRAINT cases_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT cases_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT cases_subject_key UNIQUE (merchant_id, kind, subject_id, reference),
  CONSTRAINT cases_status_check CHECK (status IN ('open', 'resolved'))
);

-- Idempotency ---------------------------------------------------------------------------------------------------------

CREATE TABLE idempotency_keys (
  merchant_id uuid NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  -- SHA-256 of the canonical body: the same meaning is the same request.
  fingerprint bytea NOT NULL,
  status_code bigint,
  -- The response body, sealed; purged after 72 hours.
  response bytea,
  created_at timestamptz NOT NULL,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (merchant_id, path, key),
  CONSTRAINT idempotency_keys_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
CREATE INDEX idempotency_keys_created_idx ON idempotency_keys (created_at);

-- Events and work -----------------------------------------------------------------------------------------------------

-- What happened, written with the change itself.
CREATE TABLE events (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  object_id uuid NOT NULL,
  sequence bigint NOT NULL,
  -- The record as it was then; json keeps the text, so every delivery sends the same bytes.
  record json NOT NULL,
  -- The record's own callback address, which gets its events besides the endpoints.
  callback_url text,
  created_at timestamptz NOT NULL,
  CONSTRAINT events_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT events_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT events_sequence_key UNIQUE (merchant_id, object_id, sequence)
);

-- Work that must happen because of a change, written with the change and claimed by a worker, one merchant at a time.
-- `version` fences a claim: whoever asks again while the work runs makes it run once more.
CREATE TABLE outbox (
  merchant_id uuid NOT NULL,
  kind text NOT NULL,
  subject_id uuid NOT NULL,
  queue text NOT NULL,
  due_at timestamptz NOT NULL,
  attempts bigint NOT NULL,
  version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (merchant_id, kind, subject_id),
  CONSTRAINT outbox_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
CREATE INDEX outbox_due_idx ON outbox (merchant_id, queue, due_at);

-- Webhooks ------------------------------------------------------------------------------------------------------------

CREATE TABLE webhook_endpoints (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  -- Null until the merchant sets it: the default endpoint exists from the start.
  url text,
  description text NOT NULL,
  -- Null subscribes to the default kinds.
  kinds text[],
  status text NOT NULL,
  disabled_reason text,
  is_default boolean NOT NULL,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_expires_at timestamptz,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT webhook_endpoints_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT webhook_endpoints_status_check CHECK (status IN ('enabled', 'disabled'))
);
CREATE UNIQUE INDEX webhook_endpoints_default_key ON webhook_endpoints (merchant_id) WHERE is_default;

-- One event on its way to one address. The row is the queue: it is due until it has no next attempt.
CREATE TABLE webhook_deliveries (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  -- The endpoint whose secret signs; for a record's own callback address that is the default endpoint.
  endpoint_id uuid NOT NULL,
  -- Set for a callback address, null for the endpoint's own.
  callback_url text,
  status text NOT NULL,
  attempts bigint NOT NULL,
  next_attempt_at timestamptz,
  created_at timestamptz NOT NULL,
  delivered_at timestamptz,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT webhook_deliveries_event_fkey FOREIGN KEY (merchant_id, event_id) REFERENCES events (merchant_id, id),
  CONSTRAINT webhook_deliveries_endpoint_fkey FOREIGN KEY (merchant_id, endpoint_id)
    REFERENCES webhook_endpoints (merchant_id, id),
  CONSTRAINT webhook_deliveries_status_check CHECK (status IN ('pending', 'delivered', 'failed', 'kept'))
);
-- An event goes once to an endpoint and once to its record's callback address. The address itself is not in the key: a
-- long one does not fit into an index.
CREATE UNIQUE INDEX webhook_deliveries_target_key
  ON webhook_deliveries (merchant_id, event_id, endpoint_id, (callback_url IS NULL));
CREATE INDEX webhook_deliveries_own_due_idx ON webhook_deliveries (merchant_id, endpoint_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL AND callback_url IS NULL;
CREATE INDEX webhook_deliveries_callback_due_idx ON webhook_deliveries (merchant_id, next_attempt_at)
  WHERE next_attempt_at IS NOT NULL AND callback_url IS NOT NULL;

CREATE TABLE webhook_attempts (
  merchant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  attempt bigint NOT NULL,
  status_code bigint,
  -- A word for what went wrong when no answer came: timeout, refused, tls, blocked, …
  failure text,
  duration_ms bigint NOT NULL,
  -- The first kilobyte of the answer.
  answer text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (merchant_id, delivery_id, attempt)
);

-- Networks: not led by a merchant, because a network does not know our merchants --------------------------------------

-- Callbacks as they came, after their signature held, with what they said: a secret that changes meanwhile must not make
-- them unreadable. Claimed by lane, so that workers do not queue behind each other.
CREATE TABLE network_inbox (
  lane bigint NOT NULL,
  id uuid NOT NULL,
  connector text NOT NULL,
  body bytea NOT NULL,
  news json NOT NULL,
  due_at timestamptz,
  attempts bigint NOT NULL,
  received_at timestamptz NOT NULL,
  handled_at timestamptz,
  outcome text,
  CONSTRAINT network_inbox_pkey PRIMARY KEY (lane, id)
);
CREATE INDEX network_inbox_due_idx ON network_inbox (lane, due_at) WHERE due_at IS NOT NULL;

-- A network's transaction id settles one thing only, whichever merchant's.
CREATE TABLE network_receipts (
  rail_account text NOT NULL,
  transaction_id text NOT NULL,
  kind text NOT NULL,
  merchant_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT network_receipts_pkey PRIMARY KEY (rail_account, transaction_id, kind)
);

-- The prompt that is open for a number at a network, by whichever merchant, and whose it is. Kept by number, because
-- that is who must not be bothered.
CREATE TABLE network_prompts (
  number text NOT NULL,
  network text NOT NULL,
  charge_id uuid NOT NULL,
  open_until timestamptz NOT NULL,
  CONSTRAINT network_prompts_pkey PRIMARY KEY (number, network)
);

-- When a number was asked to pay, on whichever network: the last ten times, newest first.
CREATE TABLE network_prompt_times (
  number text NOT NULL,
  asked_at timestamptz[] NOT NULL,
  CONSTRAINT network_prompt_times_pkey PRIMARY KEY (number)
);

-- Request limits ------------------------------------------------------------------------------------------------------

-- One row a merchant, shared by all API processes. Unlogged: after a crash everybody starts with a full allowance.
CREATE UNLOGGED TABLE rate_limits (
  merchant_id uuid NOT NULL,
  -- The theoretical arrival time of the generic cell rate algorithm, in microseconds since 1970.
  arrival_us bigint NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (merchant_id)
);
