-- The schema after the last migration, written from the catalogue. Do not edit: node tools/schema-snapshot.ts

CREATE TABLE account_attempts (
  key_hash bytea NOT NULL,
  failures bigint NOT NULL,
  last_failed_at timestamp with time zone NOT NULL,
  blocked_until timestamp with time zone,
  CONSTRAINT account_attempts_pkey PRIMARY KEY (key_hash)
);
CREATE INDEX account_attempts_failed_idx ON account_attempts USING btree (last_failed_at);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE account_passkeys (
  account_id uuid NOT NULL,
  id uuid NOT NULL,
  credential_id text NOT NULL,
  public_key bytea NOT NULL,
  sign_count bigint NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  last_used_at timestamp with time zone,
  CONSTRAINT account_passkeys_pkey PRIMARY KEY (account_id, id),
  CONSTRAINT account_passkeys_credential_key UNIQUE (credential_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE account_recovery_codes (
  account_id uuid NOT NULL,
  code_hash bytea NOT NULL,
  CONSTRAINT account_recovery_codes_pkey PRIMARY KEY (account_id, code_hash)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE account_sessions (
  token_hash bytea NOT NULL,
  id uuid NOT NULL,
  account_id uuid NOT NULL,
  device text NOT NULL,
  address text NOT NULL,
  is_complete boolean NOT NULL,
  second_factor_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  last_seen_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT account_sessions_pkey PRIMARY KEY (token_hash),
  CONSTRAINT account_sessions_id_key UNIQUE (id)
);
CREATE INDEX account_sessions_account_idx ON account_sessions USING btree (account_id);
CREATE INDEX account_sessions_expires_idx ON account_sessions USING btree (expires_at);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE account_tokens (
  token_hash bytea NOT NULL,
  purpose text NOT NULL,
  account_id uuid,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT account_tokens_pkey PRIMARY KEY (token_hash),
  CONSTRAINT account_tokens_purpose_check CHECK (purpose = ANY (ARRAY['verify_email'::text, 'reset_password'::text, 'set_password'::text, 'passkey'::text, 'lost_factor'::text])) NOT VALID
);
CREATE INDEX account_tokens_account_idx ON account_tokens USING btree (account_id);
CREATE INDEX account_tokens_expires_idx ON account_tokens USING btree (expires_at);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE accounts (
  id uuid NOT NULL,
  realm text NOT NULL,
  email text NOT NULL,
  name text NOT NULL,
  password_hash text,
  email_verified_at timestamp with time zone,
  totp_secret bytea,
  totp_confirmed_at timestamp with time zone,
  totp_last_step bigint,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT accounts_pkey PRIMARY KEY (id),
  CONSTRAINT accounts_email_key UNIQUE (realm, email),
  CONSTRAINT accounts_realm_check CHECK (realm = ANY (ARRAY['merchant'::text, 'operator'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE api_key_addresses (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  address text NOT NULL,
  first_used_at timestamp with time zone NOT NULL,
  CONSTRAINT api_key_addresses_pkey PRIMARY KEY (merchant_id, key_id, address)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE api_key_uses (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  used_at timestamp with time zone NOT NULL,
  address text,
  CONSTRAINT api_key_uses_pkey PRIMARY KEY (merchant_id, key_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE api_keys (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  key_hmac bytea NOT NULL,
  pepper_version bigint NOT NULL,
  last_four text NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  scopes text[] NOT NULL DEFAULT '{read,charge,payout}'::text[],
  expires_at timestamp with time zone,
  addresses text[],
  rolled_to uuid,
  CONSTRAINT api_keys_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT api_keys_hmac_key UNIQUE (key_hmac),
  CONSTRAINT api_keys_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE audit_blocks (
  business_id uuid NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  row_ids uuid[] NOT NULL,
  row_checks bytea NOT NULL,
  rows_total bigint NOT NULL,
  through_id uuid NOT NULL,
  chained_at timestamp with time zone NOT NULL,
  CONSTRAINT audit_blocks_pkey PRIMARY KEY (business_id, number)
);
-- dalasi_app: SELECT, INSERT

CREATE TABLE audit_entries (
  business_id uuid NOT NULL,
  id uuid NOT NULL,
  test_mode boolean,
  actor_type text NOT NULL,
  actor_id uuid,
  actor_name text NOT NULL,
  action text NOT NULL,
  object_type text,
  object_id text,
  changes json NOT NULL,
  session_id uuid,
  request_id text,
  address text,
  created_at timestamp with time zone NOT NULL,
  result text NOT NULL DEFAULT 'done'::text,
  CONSTRAINT audit_entries_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT audit_entries_actor_type_check CHECK (actor_type = ANY (ARRAY['member'::text, 'operator'::text, 'system'::text, 'key'::text]))
);
CREATE INDEX audit_entries_object_idx ON audit_entries USING btree (business_id, object_id, id) WHERE object_id IS NOT NULL;
CREATE INDEX audit_entries_operators_idx ON audit_entries USING btree (id) WHERE actor_type = 'operator'::text;
-- dalasi_app: SELECT, INSERT

CREATE TABLE backup_runs (
  id uuid NOT NULL,
  kind text NOT NULL,
  backup text NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  seconds bigint NOT NULL,
  lost_seconds bigint,
  problem text,
  CONSTRAINT backup_runs_pkey PRIMARY KEY (id),
  CONSTRAINT backup_runs_kind_check CHECK (kind = ANY (ARRAY['backup'::text, 'drill'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE business_checks (
  business_id uuid NOT NULL,
  item text NOT NULL,
  checked_by uuid NOT NULL,
  checked_at timestamp with time zone NOT NULL,
  CONSTRAINT business_checks_pkey PRIMARY KEY (business_id, item)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE businesses (
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  refund_limit bigint,
  live_requested_at timestamp with time zone,
  live_approved_at timestamp with time zone,
  suspended_at timestamp with time zone,
  approve_transfers_above bigint,
  CONSTRAINT businesses_pkey PRIMARY KEY (id),
  CONSTRAINT businesses_approve_transfers_check CHECK (approve_transfers_above >= 0)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE case_resolutions (
  merchant_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  step text NOT NULL,
  proposal_id uuid NOT NULL,
  resolution text NOT NULL,
  evidence text,
  transaction_id text,
  amount bigint,
  operator_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT case_resolutions_pkey PRIMARY KEY (merchant_id, case_id, id),
  CONSTRAINT case_resolutions_case_fkey FOREIGN KEY (merchant_id, case_id) REFERENCES cases(merchant_id, id),
  CONSTRAINT case_resolutions_evidence_check CHECK ((step = ANY (ARRAY['proposed'::text, 'closed'::text])) = (evidence IS NOT NULL)),
  CONSTRAINT case_resolutions_money_check CHECK ((transaction_id IS NULL) = (amount IS NULL) AND amount > 0),
  CONSTRAINT case_resolutions_step_check CHECK (step = ANY (ARRAY['proposed'::text, 'withdrawn'::text, 'confirmed'::text, 'closed'::text]))
);
-- dalasi_app: SELECT, INSERT

CREATE TABLE cases (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  reference text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  summary text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  resolved_at timestamp with time zone,
  proposal_id uuid,
  resolution text,
  network_transaction_id text,
  reported_again bigint NOT NULL DEFAULT 0,
  CONSTRAINT cases_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT cases_subject_key UNIQUE (merchant_id, kind, subject_id, reference),
  CONSTRAINT cases_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT cases_status_check CHECK (status = ANY (ARRAY['open'::text, 'resolved'::text]))
);
CREATE INDEX cases_open_idx ON cases USING btree (merchant_id, kind, subject_id) WHERE status = 'open'::text;
CREATE INDEX cases_subject_idx ON cases USING btree (merchant_id, subject_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE charge_notes (
  merchant_id uuid NOT NULL,
  charge_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  detail text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT charge_notes_pkey PRIMARY KEY (merchant_id, charge_id, id),
  CONSTRAINT charge_notes_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges(merchant_id, id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE charges (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  intent_id uuid NOT NULL,
  attempt bigint NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  fee_payer text NOT NULL,
  amount_paid bigint NOT NULL,
  currency text NOT NULL,
  network text NOT NULL,
  account_number text,
  account_canonical text,
  reference text NOT NULL,
  transaction_reference text NOT NULL,
  network_reference text,
  network_transaction_id text,
  network_handles json,
  next_action json,
  progress text NOT NULL,
  failure_code text,
  failure_reason text,
  review text,
  late boolean NOT NULL,
  amount_refunded bigint NOT NULL,
  event_sequence bigint NOT NULL,
  paid_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  amount_received bigint,
  settles_at timestamp with time zone,
  settled_at timestamp with time zone,
  amount_reversed bigint NOT NULL DEFAULT 0,
  reserve_percent_hundredths bigint NOT NULL DEFAULT 0,
  debt_repaid bigint NOT NULL DEFAULT 0,
  abandoned_at timestamp with time zone,
  rail_account text,
  received_directly boolean NOT NULL DEFAULT false,
  CONSTRAINT charges_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT charges_attempt_key UNIQUE (merchant_id, intent_id, attempt),
  CONSTRAINT charges_reference_key UNIQUE (merchant_id, reference),
  CONSTRAINT charges_transaction_reference_key UNIQUE (merchant_id, transaction_reference),
  CONSTRAINT charges_intent_fkey FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intents(merchant_id, id),
  CONSTRAINT charges_amount_check CHECK (amount > 0 AND fee >= 0 AND amount_refunded >= 0),
  CONSTRAINT charges_amount_paid_check CHECK (amount_paid = (amount +
CASE
    WHEN fee_payer = 'customer'::text THEN fee
    ELSE 0::bigint
END)),
  CONSTRAINT charges_amount_reversed_check CHECK (amount_reversed >= 0),
  CONSTRAINT charges_debt_repaid_check CHECK (debt_repaid >= 0),
  CONSTRAINT charges_fee_payer_check CHECK (fee_payer = ANY (ARRAY['business'::text, 'customer'::text])),
  CONSTRAINT charges_progress_check CHECK (progress = ANY (ARRAY['created'::text, 'submitted'::text, 'awaiting_payer'::text, 'unknown'::text, 'final'::text])),
  CONSTRAINT charges_reserve_check CHECK (reserve_percent_hundredths >= 0 AND reserve_percent_hundredths <= 10000),
  CONSTRAINT charges_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'refunded'::text, 'reversed'::text]))
);
CREATE INDEX charges_number_idx ON charges USING btree (merchant_id, account_canonical, intent_id) WHERE account_canonical IS NOT NULL;
CREATE INDEX charges_paid_idx ON charges USING btree (merchant_id, paid_at) WHERE paid_at IS NOT NULL;
CREATE INDEX charges_unpaid_directly_idx ON charges USING btree (merchant_id, rail_account, amount_paid, id) WHERE received_directly AND paid_at IS NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE circuit_breakers (
  network text NOT NULL,
  test_mode boolean NOT NULL,
  rail_account text NOT NULL,
  scope text NOT NULL,
  state text NOT NULL,
  reason text,
  opened_at timestamp with time zone,
  retry_at timestamp with time zone,
  failed_trials bigint NOT NULL,
  failures_in_a_row bigint NOT NULL,
  failed_merchants uuid[] NOT NULL,
  version bigint NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT circuit_breakers_pkey PRIMARY KEY (network, test_mode, rail_account, scope),
  CONSTRAINT circuit_breakers_open_check CHECK ((state = 'closed'::text) = (reason IS NULL) AND (state = 'closed'::text) = (opened_at IS NULL) AND (state = 'closed'::text) = (retry_at IS NULL)),
  CONSTRAINT circuit_breakers_reason_check CHECK (reason = ANY (ARRAY['network_unavailable'::text, 'float_empty'::text])),
  CONSTRAINT circuit_breakers_state_check CHECK (state = ANY (ARRAY['closed'::text, 'open'::text, 'half_open'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE customer_identities (
  merchant_id uuid NOT NULL,
  identity text NOT NULL,
  customer_id uuid NOT NULL,
  CONSTRAINT customer_identities_pkey PRIMARY KEY (merchant_id, identity, customer_id),
  CONSTRAINT customer_identities_customer_fkey FOREIGN KEY (merchant_id, customer_id) REFERENCES customers(merchant_id, id)
);
CREATE INDEX customer_identities_customer_idx ON customer_identities USING btree (merchant_id, customer_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE customer_locks (
  merchant_id uuid NOT NULL,
  bucket bigint NOT NULL,
  CONSTRAINT customer_locks_pkey PRIMARY KEY (merchant_id, bucket),
  CONSTRAINT customer_locks_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE customers (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text,
  email text,
  phone text,
  metadata json NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT customers_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT customers_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT customers_forgotten_check CHECK (deleted_at IS NULL OR email IS NULL AND phone IS NULL),
  CONSTRAINT customers_name_check CHECK ((name IS NULL) = (deleted_at IS NOT NULL))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE daily_figure_progress (
  merchant_id uuid NOT NULL,
  next_day date NOT NULL,
  CONSTRAINT daily_figure_progress_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT daily_figure_progress_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE daily_figures (
  merchant_id uuid NOT NULL,
  dimension text NOT NULL,
  day date NOT NULL,
  key text NOT NULL,
  collected bigint NOT NULL,
  collected_count bigint NOT NULL,
  unpaid_count bigint NOT NULL,
  reversed bigint NOT NULL,
  paid_out bigint NOT NULL,
  paid_out_count bigint NOT NULL,
  refunded bigint NOT NULL,
  refunded_count bigint NOT NULL,
  returned bigint NOT NULL,
  fees bigint NOT NULL,
  direct bigint NOT NULL DEFAULT 0,
  direct_count bigint NOT NULL DEFAULT 0,
  direct_back bigint NOT NULL DEFAULT 0,
  CONSTRAINT daily_figures_pkey PRIMARY KEY (merchant_id, dimension, day, key),
  CONSTRAINT daily_figures_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT daily_figures_dimension_check CHECK (dimension = ANY (ARRAY['network'::text, 'counter'::text, 'link'::text]))
);
CREATE INDEX daily_figures_day_idx ON daily_figures USING btree (day, merchant_id) WHERE dimension = 'network'::text;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE default_fee_rules (
  operation text NOT NULL,
  network text NOT NULL,
  percent_hundredths bigint NOT NULL,
  fixed bigint NOT NULL,
  minimum bigint NOT NULL,
  maximum bigint,
  CONSTRAINT default_fee_rules_pkey PRIMARY KEY (operation, network),
  CONSTRAINT default_fee_rules_amounts_check CHECK (percent_hundredths >= 0 AND percent_hundredths <= 10000 AND fixed >= 0 AND minimum >= 0 AND (maximum IS NULL OR maximum >= minimum)),
  CONSTRAINT default_fee_rules_network_check CHECK (operation = 'transfer'::text OR network = 'all'::text),
  CONSTRAINT default_fee_rules_operation_check CHECK (operation = ANY (ARRAY['collection'::text, 'transfer'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE default_reserve_rules (
  kind text NOT NULL,
  percent_hundredths bigint NOT NULL,
  hours bigint NOT NULL,
  new_for_days bigint,
  CONSTRAINT default_reserve_rules_pkey PRIMARY KEY (kind),
  CONSTRAINT default_reserve_rules_kind_check CHECK (kind = 'reserve'::text),
  CONSTRAINT default_reserve_rules_values_check CHECK (percent_hundredths >= 1 AND percent_hundredths <= 10000 AND hours >= 1 AND hours <= 8784 AND new_for_days >= 1 AND new_for_days <= 3660)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE default_transfer_limits (
  kind text NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT default_transfer_limits_pkey PRIMARY KEY (kind),
  CONSTRAINT default_transfer_limits_amount_check CHECK (amount >= 0),
  CONSTRAINT default_transfer_limits_kind_check CHECK (kind = ANY (ARRAY['largest'::text, 'daily'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE events (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  object_id uuid NOT NULL,
  sequence bigint NOT NULL,
  record json NOT NULL,
  callback_url text,
  created_at timestamp with time zone NOT NULL,
  request_id text,
  CONSTRAINT events_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT events_sequence_key UNIQUE (merchant_id, object_id, sequence),
  CONSTRAINT events_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX events_kind_idx ON events USING btree (merchant_id, kind, id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE fee_rules (
  merchant_id uuid NOT NULL,
  operation text NOT NULL,
  network text NOT NULL,
  percent_hundredths bigint NOT NULL,
  fixed bigint NOT NULL,
  minimum bigint NOT NULL,
  maximum bigint,
  CONSTRAINT fee_rules_pkey PRIMARY KEY (merchant_id, operation, network),
  CONSTRAINT fee_rules_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT fee_rules_amounts_check CHECK (percent_hundredths >= 0 AND percent_hundredths <= 10000 AND fixed >= 0 AND minimum >= 0 AND (maximum IS NULL OR maximum >= minimum)),
  CONSTRAINT fee_rules_network_check CHECK (operation = 'transfer'::text OR network = 'all'::text),
  CONSTRAINT fee_rules_operation_check CHECK (operation = ANY (ARRAY['collection'::text, 'transfer'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE idempotency_keys (
  merchant_id uuid NOT NULL,
  path text NOT NULL,
  key text NOT NULL,
  fingerprint bytea NOT NULL,
  status_code bigint,
  response bytea,
  created_at timestamp with time zone NOT NULL,
  subject_id uuid,
  is_forgotten boolean NOT NULL DEFAULT false,
  CONSTRAINT idempotency_keys_pkey PRIMARY KEY (merchant_id, path, key),
  CONSTRAINT idempotency_keys_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX idempotency_keys_unpurged_idx ON idempotency_keys USING btree (created_at) WHERE NOT is_forgotten;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE installation_secrets (
  name text NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT installation_secrets_pkey PRIMARY KEY (name)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE intent_shares (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  "position" bigint NOT NULL,
  sub_account_id uuid NOT NULL,
  percent_hundredths bigint NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT intent_shares_pkey PRIMARY KEY (merchant_id, intent_id, "position"),
  CONSTRAINT intent_shares_intent_fkey FOREIGN KEY (merchant_id, intent_id) REFERENCES payment_intents(merchant_id, id),
  CONSTRAINT intent_shares_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id) REFERENCES sub_accounts(merchant_id, id),
  CONSTRAINT intent_shares_amount_check CHECK (amount > 0)
);
CREATE INDEX intent_shares_sub_account_idx ON intent_shares USING btree (merchant_id, sub_account_id, intent_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE invitations (
  business_id uuid NOT NULL,
  id uuid NOT NULL,
  email text NOT NULL,
  role text NOT NULL,
  terminal_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  token_hash bytea NOT NULL,
  invited_by uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  CONSTRAINT invitations_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invitations_email_key UNIQUE (business_id, email),
  CONSTRAINT invitations_token_key UNIQUE (token_hash),
  CONSTRAINT invitations_role_check CHECK (role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'cashier'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE key_checks (
  setting text NOT NULL,
  check_value bytea NOT NULL,
  key_id bytea,
  created_at timestamp with time zone NOT NULL,
  lost_at timestamp with time zone,
  CONSTRAINT key_checks_pkey PRIMARY KEY (setting, check_value),
  CONSTRAINT key_checks_key_id_check CHECK ((setting = 'SEAL_KEY'::text) = (key_id IS NOT NULL)),
  CONSTRAINT key_checks_lost_at_check CHECK (lost_at IS NULL OR setting = 'SEAL_KEY'::text),
  CONSTRAINT key_checks_setting_check CHECK (setting = ANY (ARRAY['SEAL_KEY'::text, 'KEY_PEPPER'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE UNLOGGED TABLE key_limits (
  merchant_id uuid NOT NULL,
  key_id uuid NOT NULL,
  arrival_us bigint NOT NULL,
  CONSTRAINT key_limits_pkey PRIMARY KEY (merchant_id, key_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_accounts (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  kind text NOT NULL,
  balance bigint NOT NULL,
  CONSTRAINT ledger_accounts_pkey PRIMARY KEY (merchant_id, account, currency),
  CONSTRAINT ledger_accounts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT ledger_accounts_kind_check CHECK ((kind = ANY (ARRAY['float'::text, 'payable_pending'::text, 'payable_available'::text, 'sub'::text, 'held'::text, 'fees'::text, 'network_costs'::text, 'suspense'::text, 'receivable_merchant'::text, 'sub_owed'::text, 'due_from_subs'::text, 'test_funding'::text, 'bank'::text, 'capital'::text, 'unmatched'::text, 'till'::text, 'received_directly'::text])) AND kind = split_part(account, ':'::text, 1)),
  CONSTRAINT ledger_accounts_not_negative_check CHECK (balance >= 0 OR (kind = ANY (ARRAY['float'::text, 'network_costs'::text, 'test_funding'::text, 'bank'::text, 'capital'::text])))
);
CREATE INDEX ledger_accounts_owed_idx ON ledger_accounts USING btree (merchant_id, account, currency) WHERE kind = ANY (ARRAY['receivable_merchant'::text, 'sub_owed'::text]);
CREATE INDEX ledger_accounts_suspense_idx ON ledger_accounts USING btree (merchant_id, currency) WHERE account = 'suspense'::text;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_checkpoints (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  moved bigint NOT NULL,
  CONSTRAINT ledger_checkpoints_pkey PRIMARY KEY (merchant_id, account, currency)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_checks (
  merchant_id uuid NOT NULL,
  through_id uuid NOT NULL,
  checked_at timestamp with time zone NOT NULL,
  problem text,
  CONSTRAINT ledger_checks_pkey PRIMARY KEY (merchant_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_deltas (
  merchant_id uuid NOT NULL,
  account text NOT NULL,
  currency text NOT NULL,
  id uuid NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT ledger_deltas_pkey PRIMARY KEY (merchant_id, account, currency, id),
  CONSTRAINT ledger_deltas_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_holds (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  source_type text NOT NULL,
  source_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  closed_at timestamp with time zone,
  CONSTRAINT ledger_holds_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT ledger_holds_source_key UNIQUE (merchant_id, source_type, source_id),
  CONSTRAINT ledger_holds_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT ledger_holds_amount_check CHECK (amount > 0),
  CONSTRAINT ledger_holds_status_check CHECK (status = ANY (ARRAY['open'::text, 'settled'::text, 'released'::text]))
);
CREATE INDEX ledger_holds_open_idx ON ledger_holds USING btree (merchant_id, currency) WHERE status = 'open'::text;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE ledger_movements (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  debit_account text NOT NULL,
  credit_account text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  flow text NOT NULL,
  source_type text NOT NULL,
  source_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT ledger_movements_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT ledger_movements_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT ledger_movements_accounts_check CHECK (debit_account <> credit_account),
  CONSTRAINT ledger_movements_amount_check CHECK (amount > 0)
);
CREATE INDEX ledger_movements_clearing_idx ON ledger_movements USING btree (merchant_id, source_id) WHERE (credit_account = ANY (ARRAY['suspense'::text, 'unmatched'::text])) OR (debit_account = ANY (ARRAY['suspense'::text, 'unmatched'::text]));
CREATE INDEX ledger_movements_pending_credit_idx ON ledger_movements USING btree (merchant_id, id) WHERE credit_account = 'payable_pending'::text;
CREATE INDEX ledger_movements_pending_debit_idx ON ledger_movements USING btree (merchant_id, id) WHERE debit_account = 'payable_pending'::text;
CREATE INDEX ledger_movements_receivable_credit_idx ON ledger_movements USING btree (merchant_id, id) WHERE credit_account = 'receivable_merchant'::text;
CREATE INDEX ledger_movements_receivable_debit_idx ON ledger_movements USING btree (merchant_id, id) WHERE debit_account = 'receivable_merchant'::text;
CREATE INDEX ledger_movements_source_idx ON ledger_movements USING btree (merchant_id, source_id);
CREATE INDEX ledger_movements_sub_credit_idx ON ledger_movements USING btree (merchant_id, credit_account, id) WHERE credit_account ~~ 'sub:%'::text;
CREATE INDEX ledger_movements_sub_debit_idx ON ledger_movements USING btree (merchant_id, debit_account, id) WHERE debit_account ~~ 'sub:%'::text;
CREATE INDEX ledger_movements_sub_owed_credit_idx ON ledger_movements USING btree (merchant_id, credit_account, id) WHERE credit_account ~~ 'sub_owed:%'::text;
CREATE INDEX ledger_movements_sub_owed_debit_idx ON ledger_movements USING btree (merchant_id, debit_account, id) WHERE debit_account ~~ 'sub_owed:%'::text;
-- dalasi_app: SELECT, INSERT

CREATE TABLE ledger_verifications (
  id uuid NOT NULL,
  verified_at timestamp with time zone NOT NULL,
  scope text NOT NULL,
  is_correct boolean NOT NULL,
  movements bigint NOT NULL,
  accounts bigint NOT NULL,
  problem text,
  CONSTRAINT ledger_verifications_pkey PRIMARY KEY (id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE mails (
  id uuid NOT NULL,
  recipient text NOT NULL,
  subject text NOT NULL,
  sealed_text bytea,
  attempts bigint NOT NULL DEFAULT 0,
  due_at timestamp with time zone,
  sent_at timestamp with time zone,
  failure text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT mails_pkey PRIMARY KEY (id)
);
CREATE INDEX mails_created_idx ON mails USING btree (created_at);
CREATE INDEX mails_due_idx ON mails USING btree (due_at) WHERE due_at IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE memberships (
  business_id uuid NOT NULL,
  account_id uuid NOT NULL,
  role text NOT NULL,
  terminal_ids uuid[] NOT NULL DEFAULT '{}'::uuid[],
  role_changed_at timestamp with time zone NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT memberships_pkey PRIMARY KEY (business_id, account_id),
  CONSTRAINT memberships_role_check CHECK (role = ANY (ARRAY['owner'::text, 'developer'::text, 'finance'::text, 'cashier'::text]))
);
CREATE INDEX memberships_account_idx ON memberships USING btree (account_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE merchant_logos (
  merchant_id uuid NOT NULL,
  png bytea NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT merchant_logos_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT merchant_logos_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT merchant_logos_png_check CHECK (octet_length(png) >= 1 AND octet_length(png) <= 204800)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE merchant_places (
  merchant_id uuid NOT NULL,
  CONSTRAINT merchant_places_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT merchant_places_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE merchants (
  id uuid NOT NULL,
  business_id uuid NOT NULL,
  short_id text NOT NULL,
  name text NOT NULL,
  test_mode boolean NOT NULL,
  currency text NOT NULL,
  fee_payer text NOT NULL,
  rate_limit_per_second bigint,
  created_at timestamp with time zone NOT NULL,
  sub_account_payouts text NOT NULL DEFAULT 'manual'::text,
  rate_limit_key_percent bigint,
  rate_limit_pages bigint,
  page_colour text,
  contact_phone text,
  contact_whatsapp text,
  contact_email text,
  contact_text text,
  default_return_url text,
  default_cancel_url text,
  default_callback_url text,
  receipt_confirm_above bigint,
  CONSTRAINT merchants_pkey PRIMARY KEY (id),
  CONSTRAINT merchants_business_environment_key UNIQUE (business_id, test_mode),
  CONSTRAINT merchants_short_id_key UNIQUE (short_id),
  CONSTRAINT merchants_business_fkey FOREIGN KEY (business_id) REFERENCES businesses(id),
  CONSTRAINT merchants_fee_payer_check CHECK (fee_payer = ANY (ARRAY['business'::text, 'customer'::text])),
  CONSTRAINT merchants_page_colour_check CHECK (page_colour ~ '^#[0-9a-f]{6}$'::text) NOT VALID,
  CONSTRAINT merchants_rate_limit_key_percent_check CHECK (rate_limit_key_percent >= 1 AND rate_limit_key_percent <= 100),
  CONSTRAINT merchants_rate_limit_pages_check CHECK (rate_limit_pages >= 0 AND rate_limit_pages <= 100000),
  CONSTRAINT merchants_short_id_check CHECK (short_id ~ '^[0-9A-Za-z]{8}$'::text),
  CONSTRAINT merchants_sub_account_payouts_check CHECK (sub_account_payouts = ANY (ARRAY['manual'::text, 'daily'::text, 'weekly'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE movement_blocks (
  merchant_id uuid NOT NULL,
  number bigint NOT NULL,
  hash bytea NOT NULL,
  row_ids uuid[] NOT NULL,
  row_checks bytea NOT NULL,
  rows_total bigint NOT NULL,
  through_id uuid NOT NULL,
  chained_at timestamp with time zone NOT NULL,
  CONSTRAINT movement_blocks_pkey PRIMARY KEY (merchant_id, number)
);
-- dalasi_app: SELECT, INSERT

CREATE TABLE network_inbox (
  shard bigint NOT NULL,
  id uuid NOT NULL,
  connector text NOT NULL,
  body bytea NOT NULL,
  notifications json NOT NULL,
  due_at timestamp with time zone,
  attempts bigint NOT NULL,
  received_at timestamp with time zone NOT NULL,
  handled_at timestamp with time zone,
  outcome text,
  CONSTRAINT network_inbox_pkey PRIMARY KEY (shard, id)
);
CREATE INDEX network_inbox_due_idx ON network_inbox USING btree (shard, due_at) WHERE due_at IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE network_prompt_times (
  number text NOT NULL,
  prompted_at timestamp with time zone[] NOT NULL,
  CONSTRAINT network_prompt_times_pkey PRIMARY KEY (number)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE network_prompts (
  number text NOT NULL,
  network text NOT NULL,
  charge_id uuid NOT NULL,
  open_until timestamp with time zone NOT NULL,
  CONSTRAINT network_prompts_pkey PRIMARY KEY (number, network)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE notification_channels (
  channel text NOT NULL,
  scope text NOT NULL,
  reason text NOT NULL,
  stopped_at timestamp with time zone NOT NULL,
  retry_at timestamp with time zone NOT NULL,
  CONSTRAINT notification_channels_pkey PRIMARY KEY (channel),
  CONSTRAINT notification_channels_scope_check CHECK (scope = ANY (ARRAY['template'::text, 'channel'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE notification_numbers (
  channel text NOT NULL,
  number text NOT NULL,
  next_at timestamp with time zone NOT NULL,
  stopped_reason text,
  stopped_at timestamp with time zone,
  recipient text,
  CONSTRAINT notification_numbers_pkey PRIMARY KEY (channel, number),
  CONSTRAINT notification_numbers_stopped_check CHECK ((stopped_reason IS NULL) = (stopped_at IS NULL))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE notifications (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  terminal_id uuid NOT NULL,
  charge_id uuid NOT NULL,
  number text NOT NULL,
  channel text NOT NULL,
  status text NOT NULL,
  attempts bigint NOT NULL,
  due_at timestamp with time zone,
  message_id text,
  failure text,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT notifications_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT notifications_once_key UNIQUE (merchant_id, charge_id, number),
  CONSTRAINT notifications_terminal_fkey FOREIGN KEY (merchant_id, terminal_id) REFERENCES virtual_terminals(merchant_id, id),
  CONSTRAINT notifications_status_check CHECK (status = ANY (ARRAY['pending'::text, 'sent'::text, 'delivered'::text, 'read'::text, 'failed'::text, 'dropped'::text]))
);
CREATE INDEX notifications_due_idx ON notifications USING btree (merchant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notifications_terminal_idx ON notifications USING btree (merchant_id, terminal_id, number, id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE operator_logins (
  account_id uuid NOT NULL,
  operator_id uuid NOT NULL,
  role text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT operator_logins_pkey PRIMARY KEY (account_id),
  CONSTRAINT operator_logins_operator_key UNIQUE (operator_id),
  CONSTRAINT operator_logins_role_check CHECK (role = ANY (ARRAY['support'::text, 'finance'::text, 'admin'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE operators (
  id uuid NOT NULL,
  name text NOT NULL,
  credential_hmac bytea NOT NULL,
  pepper_version bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  revoked_at timestamp with time zone,
  account_id uuid,
  role text,
  CONSTRAINT operators_pkey PRIMARY KEY (id),
  CONSTRAINT operators_credential_key UNIQUE (credential_hmac),
  CONSTRAINT operators_role_check CHECK (role = ANY (ARRAY['support'::text, 'finance'::text, 'admin'::text])) NOT VALID
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE outbox (
  merchant_id uuid NOT NULL,
  kind text NOT NULL,
  subject_id uuid NOT NULL,
  queue text NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempts bigint NOT NULL,
  version bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT outbox_pkey PRIMARY KEY (merchant_id, kind, subject_id),
  CONSTRAINT outbox_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX outbox_due_idx ON outbox USING btree (merchant_id, queue, due_at);
CREATE INDEX outbox_due_lately_idx ON outbox USING btree ((due_at AT TIME ZONE 'UTC'::text));
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE UNLOGGED TABLE page_limits (
  merchant_id uuid NOT NULL,
  page_owner_id uuid NOT NULL,
  arrival_us bigint NOT NULL,
  CONSTRAINT page_limits_pkey PRIMARY KEY (merchant_id, page_owner_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

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
  payment_methods text[],
  metadata json NOT NULL,
  source text NOT NULL,
  attempts bigint NOT NULL,
  late boolean NOT NULL,
  review text,
  event_sequence bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  sub_account_id uuid,
  sub_account_group_id uuid,
  payment_link_id uuid,
  terminal_id uuid,
  custom_fields_values json,
  form_hash text,
  unpaid_at timestamp with time zone,
  CONSTRAINT payment_intents_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT payment_intents_checkout_token_key UNIQUE (merchant_id, checkout_token),
  CONSTRAINT payment_intents_secret_key UNIQUE (merchant_id, intent_secret),
  CONSTRAINT payment_intents_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT payment_intents_amount_check CHECK (amount > 0 AND fee >= 0),
  CONSTRAINT payment_intents_fee_payer_check CHECK (fee_payer = ANY (ARRAY['business'::text, 'customer'::text])),
  CONSTRAINT payment_intents_status_check CHECK (status = ANY (ARRAY['requires_payment_method'::text, 'processing'::text, 'successful'::text, 'failed'::text, 'cancelled'::text, 'expired'::text]))
);
CREATE INDEX payment_intents_customer_idx ON payment_intents USING btree (merchant_id, customer_id, id) WHERE customer_id IS NOT NULL;
CREATE INDEX payment_intents_ended_idx ON payment_intents USING btree (merchant_id, status, id) WHERE status = ANY (ARRAY['failed'::text, 'cancelled'::text, 'expired'::text]);
CREATE INDEX payment_intents_expiring_idx ON payment_intents USING btree (merchant_id, expires_at) WHERE status = ANY (ARRAY['requires_payment_method'::text, 'processing'::text]);
CREATE UNIQUE INDEX payment_intents_form_hash_key ON payment_intents USING btree (merchant_id, form_hash) WHERE form_hash IS NOT NULL;
CREATE INDEX payment_intents_link_idx ON payment_intents USING btree (merchant_id, payment_link_id, id) WHERE payment_link_id IS NOT NULL;
CREATE INDEX payment_intents_payer_number_idx ON payment_intents USING btree (merchant_id, "right"(regexp_replace(customer_phone, '\D'::text, ''::text, 'g'::text), 7), id) WHERE customer_phone IS NOT NULL;
CREATE INDEX payment_intents_terminal_idx ON payment_intents USING btree (merchant_id, terminal_id, id) WHERE terminal_id IS NOT NULL;
CREATE INDEX payment_intents_total_idx ON payment_intents USING btree (merchant_id, (amount +
CASE
    WHEN fee_payer = 'customer'::text THEN fee
    ELSE 0::bigint
END), id);
CREATE INDEX payment_intents_unpaid_idx ON payment_intents USING btree (merchant_id, unpaid_at) WHERE unpaid_at IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE payment_links (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  token text NOT NULL,
  title text NOT NULL,
  description text,
  amount bigint,
  min_amount bigint,
  currency text NOT NULL,
  metadata json NOT NULL,
  redirect_url text,
  cancel_url text,
  custom_fields text[] NOT NULL,
  sub_account_id uuid,
  sub_account_group_id uuid,
  active boolean NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  rate_limit bigint,
  CONSTRAINT payment_links_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT payment_links_token_key UNIQUE (merchant_id, token),
  CONSTRAINT payment_links_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT payment_links_amount_check CHECK (amount > 0 AND min_amount > 0 AND (amount IS NULL OR min_amount IS NULL)),
  CONSTRAINT payment_links_rate_limit_check CHECK (rate_limit >= 0 AND rate_limit <= 100000)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE payment_page_views (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  views bigint NOT NULL,
  first_viewed_at timestamp with time zone NOT NULL,
  last_viewed_at timestamp with time zone NOT NULL,
  CONSTRAINT payment_page_views_pkey PRIMARY KEY (merchant_id, intent_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE provider_transactions (
  rail_account text NOT NULL,
  transaction_id text NOT NULL,
  kind text NOT NULL,
  merchant_id uuid NOT NULL,
  subject_id uuid NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT provider_transactions_pkey PRIMARY KEY (rail_account, transaction_id, kind)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE rail_accounts (
  name text NOT NULL,
  kind text NOT NULL,
  test_mode boolean NOT NULL,
  business_id uuid,
  base_url text,
  settings jsonb NOT NULL,
  "position" bigint,
  disabled_at timestamp with time zone,
  version bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT rail_accounts_pkey PRIMARY KEY (name)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE rail_credentials (
  rail_account text NOT NULL,
  version bigint NOT NULL,
  sealed bytea NOT NULL,
  created_at timestamp with time zone NOT NULL,
  valid_until timestamp with time zone,
  CONSTRAINT rail_credentials_pkey PRIMARY KEY (rail_account, version),
  CONSTRAINT rail_credentials_account_fkey FOREIGN KEY (rail_account) REFERENCES rail_accounts(name)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE UNLOGGED TABLE rate_limits (
  merchant_id uuid NOT NULL,
  arrival_us bigint NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (merchant_id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE receipt_phones (
  merchant_id uuid NOT NULL,
  rail_account text NOT NULL,
  seen_at timestamp with time zone NOT NULL,
  pinged_at timestamp with time zone,
  message_at timestamp with time zone,
  CONSTRAINT receipt_phones_pkey PRIMARY KEY (merchant_id, rail_account),
  CONSTRAINT receipt_phones_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE receipts (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  rail_account text NOT NULL,
  network text NOT NULL,
  transaction_id text NOT NULL,
  transaction_key text NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  payer_number text,
  payer_name text,
  balance bigint,
  status text NOT NULL,
  dated_at timestamp with time zone NOT NULL,
  charge_id uuid,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT receipts_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT receipts_transaction_key UNIQUE (merchant_id, rail_account, transaction_key),
  CONSTRAINT receipts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT receipts_amount_check CHECK (amount > 0),
  CONSTRAINT receipts_status_check CHECK (status = ANY (ARRAY['unconfirmed'::text, 'confirmed'::text, 'contradicted'::text]))
);
CREATE INDEX receipts_charge_idx ON receipts USING btree (merchant_id, charge_id) WHERE charge_id IS NOT NULL;
CREATE INDEX receipts_network_key_idx ON receipts USING btree (merchant_id, network, transaction_key);
CREATE UNIQUE INDEX receipts_paid_key ON receipts USING btree (merchant_id, network, transaction_key) WHERE charge_id IS NOT NULL;
CREATE INDEX receipts_unconfirmed_idx ON receipts USING btree (merchant_id, rail_account, dated_at) WHERE status = 'unconfirmed'::text;
CREATE INDEX receipts_unmatched_idx ON receipts USING btree (merchant_id, id) WHERE charge_id IS NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE reconciliation_days (
  rail_account text NOT NULL,
  day date NOT NULL,
  id uuid NOT NULL,
  merchant_id uuid,
  test_mode boolean NOT NULL,
  currency text NOT NULL,
  lines bigint NOT NULL,
  matched bigint NOT NULL,
  in_transit bigint NOT NULL,
  differences json NOT NULL,
  gaps bigint NOT NULL,
  statement_change bigint NOT NULL,
  statement_closing bigint,
  ledger_change bigint NOT NULL,
  ledger_closing bigint NOT NULL,
  opening_difference bigint NOT NULL,
  listed bigint NOT NULL,
  unexplained bigint,
  ran_at timestamp with time zone NOT NULL,
  CONSTRAINT reconciliation_days_pkey PRIMARY KEY (rail_account, day)
);
CREATE INDEX reconciliation_days_merchant_idx ON reconciliation_days USING btree (merchant_id, id) WHERE merchant_id IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE reconciliation_differences (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  class text NOT NULL,
  state text NOT NULL,
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  merchant_id uuid NOT NULL,
  line_id uuid,
  day date NOT NULL,
  resolved_day date,
  resolution text,
  ours bigint NOT NULL,
  theirs bigint NOT NULL,
  currency text NOT NULL,
  summary text NOT NULL,
  case_id uuid,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  CONSTRAINT reconciliation_differences_pkey PRIMARY KEY (rail_account, id),
  CONSTRAINT reconciliation_differences_subject_key UNIQUE (rail_account, subject_id, class),
  CONSTRAINT reconciliation_differences_class_check CHECK (class = ANY (ARRAY['missing_here'::text, 'missing_there'::text, 'amount'::text, 'fee'::text, 'status'::text, 'duplicate'::text, 'reversed'::text, 'unknown'::text])),
  CONSTRAINT reconciliation_differences_state_check CHECK (state = ANY (ARRAY['in_transit'::text, 'open'::text, 'resolved'::text]))
);
CREATE INDEX reconciliation_differences_state_idx ON reconciliation_differences USING btree (rail_account, state, id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE refund_parts (
  merchant_id uuid NOT NULL,
  refund_id uuid NOT NULL,
  account text NOT NULL,
  amount bigint NOT NULL,
  advanced bigint NOT NULL,
  CONSTRAINT refund_parts_pkey PRIMARY KEY (merchant_id, refund_id, account),
  CONSTRAINT refund_parts_refund_fkey FOREIGN KEY (merchant_id, refund_id) REFERENCES refunds(merchant_id, id),
  CONSTRAINT refund_parts_amount_check CHECK (amount > 0 AND advanced >= 0 AND advanced <= amount)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE refunds (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  charge_id uuid NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT refunds_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT refunds_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges(merchant_id, id),
  CONSTRAINT refunds_transfer_fkey FOREIGN KEY (merchant_id, id) REFERENCES transfers(merchant_id, id),
  CONSTRAINT refunds_amount_check CHECK (amount > 0)
);
CREATE INDEX refunds_amount_idx ON refunds USING btree (merchant_id, amount, id);
CREATE INDEX refunds_charge_idx ON refunds USING btree (merchant_id, charge_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE request_log (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  request_id text NOT NULL,
  key_id uuid NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  query text,
  status_code bigint NOT NULL,
  duration_ms bigint NOT NULL,
  idempotency_key text,
  error_code text,
  request_body text,
  response_body text,
  created_at timestamp with time zone NOT NULL,
  path_object_id uuid,
  response_object_id uuid,
  CONSTRAINT request_log_pkey PRIMARY KEY (merchant_id, id)
);
CREATE INDEX request_log_idempotency_idx ON request_log USING btree (merchant_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX request_log_path_object_idx ON request_log USING btree (merchant_id, path_object_id) WHERE path_object_id IS NOT NULL;
CREATE INDEX request_log_request_idx ON request_log USING btree (merchant_id, request_id);
CREATE INDEX request_log_response_object_idx ON request_log USING btree (merchant_id, response_object_id) WHERE response_object_id IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE request_log_trims (
  merchant_id uuid NOT NULL,
  trimmed_to uuid NOT NULL,
  CONSTRAINT request_log_trims_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT request_log_trims_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE reserve_rules (
  merchant_id uuid NOT NULL,
  percent_hundredths bigint NOT NULL,
  hours bigint NOT NULL,
  new_for_days bigint,
  CONSTRAINT reserve_rules_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT reserve_rules_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT reserve_rules_values_check CHECK (percent_hundredths >= 0 AND percent_hundredths <= 10000 AND hours >= 0 AND hours <= 8784 AND new_for_days >= 1 AND new_for_days <= 3660)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE restores (
  id uuid NOT NULL,
  backup text,
  restored_at timestamp with time zone NOT NULL,
  restored_to timestamp with time zone,
  released_at timestamp with time zone,
  CONSTRAINT restores_pkey PRIMARY KEY (id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE schema_migrations (
  number integer NOT NULL,
  name text NOT NULL,
  applied_at timestamp with time zone NOT NULL,
  CONSTRAINT schema_migrations_pkey PRIMARY KEY (number)
);
-- dalasi_app: SELECT

CREATE UNLOGGED TABLE service_limits (
  name text NOT NULL,
  arrival_us bigint NOT NULL,
  CONSTRAINT service_limits_pkey PRIMARY KEY (name)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE settlement_periods (
  merchant_id uuid NOT NULL,
  sub_account_id uuid NOT NULL,
  period date NOT NULL,
  transfer_id uuid,
  refusal text,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT settlement_periods_pkey PRIMARY KEY (merchant_id, sub_account_id, period),
  CONSTRAINT settlement_periods_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id) REFERENCES sub_accounts(merchant_id, id),
  CONSTRAINT settlement_periods_refusal_check CHECK ((transfer_id IS NULL) = (refusal IS NOT NULL))
);
CREATE INDEX settlement_periods_period_idx ON settlement_periods USING btree (period);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE settlement_runs (
  merchant_id uuid NOT NULL,
  period date NOT NULL,
  finished_at timestamp with time zone NOT NULL,
  CONSTRAINT settlement_runs_pkey PRIMARY KEY (merchant_id, period),
  CONSTRAINT settlement_runs_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX settlement_runs_period_idx ON settlement_runs USING btree (period);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.callbacks (
  account text NOT NULL,
  subject_id text NOT NULL,
  id text NOT NULL,
  url text NOT NULL,
  network text NOT NULL,
  body text NOT NULL,
  occurs_at timestamp with time zone NOT NULL,
  due_at timestamp with time zone NOT NULL,
  attempts bigint NOT NULL,
  wire text NOT NULL DEFAULT 'private'::text,
  method text NOT NULL DEFAULT 'POST'::text,
  CONSTRAINT callbacks_pkey PRIMARY KEY (account, subject_id, id)
);
CREATE INDEX callbacks_due_idx ON simulator.callbacks USING btree (due_at);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.chat_messages (
  number text NOT NULL,
  id uuid NOT NULL,
  body text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT chat_messages_pkey PRIMARY KEY (number, id)
);
CREATE INDEX chat_messages_created_idx ON simulator.chat_messages USING btree (created_at);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.floats (
  account text NOT NULL,
  network text NOT NULL,
  beneficiary_number text NOT NULL,
  state text NOT NULL,
  changed_at timestamp with time zone NOT NULL,
  CONSTRAINT floats_pkey PRIMARY KEY (account, network, beneficiary_number),
  CONSTRAINT floats_state_check CHECK (state = ANY (ARRAY['empty'::text, 'filled'::text]))
);
CREATE INDEX floats_beneficiary_idx ON simulator.floats USING btree (beneficiary_number);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.gsma_requests (
  account text NOT NULL,
  correlation_id uuid NOT NULL,
  server_id uuid NOT NULL,
  network text NOT NULL,
  operation text NOT NULL,
  subject_id text NOT NULL,
  poll_limit bigint,
  polls bigint NOT NULL,
  CONSTRAINT gsma_requests_pkey PRIMARY KEY (account, correlation_id),
  CONSTRAINT gsma_requests_server_key UNIQUE (account, server_id),
  CONSTRAINT gsma_requests_operation_check CHECK (operation = ANY (ARRAY['collection'::text, 'payout'::text])),
  CONSTRAINT gsma_requests_polls_check CHECK (polls >= 0 AND poll_limit > 0)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.outages (
  account text NOT NULL,
  network text NOT NULL,
  payer_number text NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone,
  CONSTRAINT outages_pkey PRIMARY KEY (account, network, payer_number)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.payout_batches (
  account text NOT NULL,
  id text NOT NULL,
  network text NOT NULL,
  reference text NOT NULL,
  fingerprint text NOT NULL,
  payout_count bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT payout_batches_pkey PRIMARY KEY (account, id),
  CONSTRAINT payout_batches_reference_key UNIQUE (account, network, reference),
  CONSTRAINT payout_batches_count_check CHECK (payout_count > 0)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.payout_outages (
  account text NOT NULL,
  network text NOT NULL,
  beneficiary_number text NOT NULL,
  began_at timestamp with time zone NOT NULL,
  ends_at timestamp with time zone,
  CONSTRAINT payout_outages_pkey PRIMARY KEY (account, network, beneficiary_number)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.payouts (
  account text NOT NULL,
  id text NOT NULL,
  network text NOT NULL,
  reference text NOT NULL,
  fingerprint text NOT NULL,
  status text NOT NULL,
  failure_code text,
  planned_status text,
  planned_at timestamp with time zone,
  visible_at timestamp with time zone NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  beneficiary_number text NOT NULL,
  beneficiary_number_as_sent text NOT NULL,
  beneficiary_name text,
  description text NOT NULL,
  callback_url text NOT NULL,
  transaction_id text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  refunded_transaction_id text,
  client_reference text,
  CONSTRAINT payouts_pkey PRIMARY KEY (account, id),
  CONSTRAINT payouts_reference_key UNIQUE (account, network, reference),
  CONSTRAINT payouts_transaction_key UNIQUE (account, network, transaction_id),
  CONSTRAINT payouts_amount_check CHECK (amount > 0),
  CONSTRAINT payouts_failure_check CHECK (status <> 'failed'::text AND planned_status IS DISTINCT FROM 'failed'::text OR failure_code IS NOT NULL),
  CONSTRAINT payouts_planned_check CHECK ((planned_status IS NULL) = (planned_at IS NULL) AND (planned_status = ANY (ARRAY['completed'::text, 'failed'::text, 'reversed'::text]))),
  CONSTRAINT payouts_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text]))
);
CREATE INDEX payouts_beneficiary_idx ON simulator.payouts USING btree (beneficiary_number, created_at);
CREATE INDEX payouts_client_reference_idx ON simulator.payouts USING btree (account, network, client_reference) WHERE client_reference IS NOT NULL;
CREATE INDEX payouts_refunded_idx ON simulator.payouts USING btree (account, network, refunded_transaction_id) WHERE refunded_transaction_id IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE simulator.sessions (
  account text NOT NULL,
  id text NOT NULL,
  network text NOT NULL,
  reference text NOT NULL,
  fingerprint text NOT NULL,
  shape text NOT NULL,
  status text NOT NULL,
  failure_code text,
  planned_status text,
  planned_at timestamp with time zone,
  visible_at timestamp with time zone NOT NULL,
  amount bigint NOT NULL,
  amount_paid bigint NOT NULL,
  currency text NOT NULL,
  payer_number text,
  payer_number_as_sent text,
  description text NOT NULL,
  return_url text NOT NULL,
  callback_url text NOT NULL,
  code text,
  code_attempts_left bigint NOT NULL,
  transaction_id text NOT NULL,
  approved_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  expires_at timestamp with time zone NOT NULL,
  ended_at timestamp with time zone,
  reversed_at timestamp with time zone,
  CONSTRAINT sessions_pkey PRIMARY KEY (account, id),
  CONSTRAINT sessions_reference_key UNIQUE (account, network, reference),
  CONSTRAINT sessions_transaction_key UNIQUE (account, network, transaction_id),
  CONSTRAINT sessions_amount_check CHECK (amount > 0 AND amount_paid > 0),
  CONSTRAINT sessions_code_check CHECK ((shape <> 'code'::text OR code IS NOT NULL) AND code_attempts_left >= 0),
  CONSTRAINT sessions_failure_check CHECK (status <> 'failed'::text AND planned_status IS DISTINCT FROM 'failed'::text OR failure_code IS NOT NULL),
  CONSTRAINT sessions_planned_check CHECK ((planned_status IS NULL) = (planned_at IS NULL) AND (planned_status = ANY (ARRAY['complete'::text, 'failed'::text, 'reversed'::text]))),
  CONSTRAINT sessions_shape_check CHECK (shape = ANY (ARRAY['redirect'::text, 'push'::text, 'push_then_confirm'::text, 'code'::text])),
  CONSTRAINT sessions_status_check CHECK (status = ANY (ARRAY['open'::text, 'complete'::text, 'failed'::text, 'expired'::text, 'cancelled'::text, 'reversed'::text]))
);
CREATE INDEX sessions_payer_idx ON simulator.sessions USING btree (payer_number, created_at) WHERE payer_number IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE statement_imports (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  source text NOT NULL,
  name text NOT NULL,
  fingerprint text NOT NULL,
  is_descending boolean,
  rows_done bigint NOT NULL,
  lines_new bigint NOT NULL,
  lines_known bigint NOT NULL,
  lines_refused bigint NOT NULL,
  first_day date,
  last_day date,
  created_at timestamp with time zone NOT NULL,
  finished_at timestamp with time zone,
  CONSTRAINT statement_imports_pkey PRIMARY KEY (rail_account, id),
  CONSTRAINT statement_imports_fingerprint_key UNIQUE (rail_account, fingerprint),
  CONSTRAINT statement_imports_source_check CHECK (source = ANY (ARRAY['file'::text, 'api'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE statement_lines (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  identity text NOT NULL,
  ordinal bigint NOT NULL,
  day date NOT NULL,
  at timestamp with time zone NOT NULL,
  sequence bigint NOT NULL,
  import_id uuid NOT NULL,
  row_number bigint NOT NULL,
  transaction_id text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  net bigint NOT NULL,
  gross bigint NOT NULL,
  fee bigint,
  currency text NOT NULL,
  balance bigint,
  reference text,
  original_transaction_id text,
  counterparty_number text,
  counterparty_name text,
  merchant_id uuid,
  subject_type text,
  subject_id uuid,
  CONSTRAINT statement_lines_pkey PRIMARY KEY (rail_account, id),
  CONSTRAINT statement_lines_identity_key UNIQUE (rail_account, identity, ordinal),
  CONSTRAINT statement_lines_amounts_check CHECK (gross >= 0 AND fee >= 0),
  CONSTRAINT statement_lines_kind_check CHECK (kind = ANY (ARRAY['collection'::text, 'payout'::text, 'refund'::text, 'collection_reversal'::text, 'payout_reversal'::text, 'fee'::text, 'other'::text])),
  CONSTRAINT statement_lines_status_check CHECK (status = ANY (ARRAY['completed'::text, 'pending'::text, 'failed'::text])),
  CONSTRAINT statement_lines_subject_check CHECK ((subject_id IS NULL) = (merchant_id IS NULL) AND (subject_id IS NULL) = (subject_type IS NULL))
);
CREATE INDEX statement_lines_day_idx ON statement_lines USING btree (rail_account, day, at, sequence);
CREATE INDEX statement_lines_day_subject_idx ON statement_lines USING btree (rail_account, day, subject_id);
CREATE INDEX statement_lines_subject_idx ON statement_lines USING btree (rail_account, subject_id) WHERE subject_id IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE statement_mappings (
  rail_account text NOT NULL,
  name text NOT NULL,
  definition json NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT statement_mappings_pkey PRIMARY KEY (rail_account, name)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE statement_refusals (
  rail_account text NOT NULL,
  import_id uuid NOT NULL,
  row_number bigint NOT NULL,
  reason text NOT NULL,
  CONSTRAINT statement_refusals_pkey PRIMARY KEY (rail_account, import_id, row_number)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE sub_account_group_members (
  merchant_id uuid NOT NULL,
  group_id uuid NOT NULL,
  "position" bigint NOT NULL,
  sub_account_id uuid NOT NULL,
  percent_hundredths bigint NOT NULL,
  CONSTRAINT sub_account_group_members_pkey PRIMARY KEY (merchant_id, group_id, "position"),
  CONSTRAINT sub_account_group_members_once_key UNIQUE (merchant_id, group_id, sub_account_id),
  CONSTRAINT sub_account_group_members_group_fkey FOREIGN KEY (merchant_id, group_id) REFERENCES sub_account_groups(merchant_id, id),
  CONSTRAINT sub_account_group_members_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id) REFERENCES sub_accounts(merchant_id, id),
  CONSTRAINT sub_account_group_members_percentage_check CHECK (percent_hundredths >= 1 AND percent_hundredths <= 10000)
);
CREATE INDEX sub_account_group_members_sub_account_idx ON sub_account_group_members USING btree (merchant_id, sub_account_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE sub_account_groups (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT sub_account_groups_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT sub_account_groups_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE sub_accounts (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  percent_hundredths bigint NOT NULL,
  settlement_code text NOT NULL,
  account_number text NOT NULL,
  account_canonical text NOT NULL,
  active boolean NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  destination_changed_at timestamp with time zone,
  CONSTRAINT sub_accounts_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT sub_accounts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT sub_accounts_percentage_check CHECK (percent_hundredths >= 1 AND percent_hundredths <= 10000)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE telegram_chats (
  number text NOT NULL,
  chat_id text NOT NULL,
  linked_at timestamp with time zone NOT NULL,
  CONSTRAINT telegram_chats_pkey PRIMARY KEY (number)
);
CREATE INDEX telegram_chats_chat_idx ON telegram_chats USING btree (chat_id);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE terminal_codes (
  code text NOT NULL,
  merchant_id uuid NOT NULL,
  terminal_id uuid NOT NULL,
  CONSTRAINT terminal_codes_pkey PRIMARY KEY (code)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfer_days (
  merchant_id uuid NOT NULL,
  day date NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT transfer_days_pkey PRIMARY KEY (merchant_id, day, currency),
  CONSTRAINT transfer_days_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT transfer_days_amount_check CHECK (amount >= 0)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfer_decisions (
  merchant_id uuid NOT NULL,
  request_id uuid NOT NULL,
  requested_by uuid NOT NULL,
  decided_by uuid NOT NULL,
  decided_by_name text NOT NULL,
  decision text NOT NULL,
  transfer_id uuid,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT transfer_decisions_pkey PRIMARY KEY (merchant_id, request_id),
  CONSTRAINT transfer_decisions_request_fkey FOREIGN KEY (merchant_id, request_id, requested_by) REFERENCES transfer_requests(merchant_id, id, requested_by),
  CONSTRAINT transfer_decisions_decision_check CHECK (decision = ANY (ARRAY['approved'::text, 'declined'::text])),
  CONSTRAINT transfer_decisions_second_person_check CHECK (decision = 'declined'::text OR decided_by <> requested_by),
  CONSTRAINT transfer_decisions_transfer_check CHECK ((decision = 'approved'::text) = (transfer_id IS NOT NULL))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfer_limits (
  merchant_id uuid NOT NULL,
  kind text NOT NULL,
  amount bigint,
  CONSTRAINT transfer_limits_pkey PRIMARY KEY (merchant_id, kind),
  CONSTRAINT transfer_limits_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT transfer_limits_amount_check CHECK (amount >= 0),
  CONSTRAINT transfer_limits_kind_check CHECK (kind = ANY (ARRAY['largest'::text, 'daily'::text]))
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfer_notes (
  merchant_id uuid NOT NULL,
  transfer_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  detail text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT transfer_notes_pkey PRIMARY KEY (merchant_id, transfer_id, id),
  CONSTRAINT transfer_notes_transfer_fkey FOREIGN KEY (merchant_id, transfer_id) REFERENCES transfers(merchant_id, id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfer_requests (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  requested_by uuid NOT NULL,
  requested_by_name text NOT NULL,
  amount bigint NOT NULL,
  body jsonb NOT NULL,
  created_at timestamp with time zone NOT NULL,
  sub_account_id uuid,
  CONSTRAINT transfer_requests_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT transfer_requests_by_key UNIQUE (merchant_id, id, requested_by),
  CONSTRAINT transfer_requests_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id)
);
CREATE INDEX transfer_requests_created_idx ON transfer_requests USING btree (merchant_id, created_at DESC);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE transfers (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  amount bigint NOT NULL,
  fee bigint NOT NULL,
  currency text NOT NULL,
  network text NOT NULL,
  account_number text NOT NULL,
  account_canonical text NOT NULL,
  beneficiary_name text,
  narration text,
  callback_url text,
  metadata json NOT NULL,
  reference text NOT NULL,
  network_reference text,
  network_transaction_id text,
  network_handles json,
  progress text NOT NULL,
  sends bigint NOT NULL,
  sent_at timestamp with time zone,
  waiting_for text,
  failure_code text,
  failure_reason text,
  review text,
  event_sequence bigint NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  completed_at timestamp with time zone,
  sub_account_id uuid,
  route text NOT NULL DEFAULT 'payout'::text,
  original_reference text,
  amount_reversed bigint NOT NULL DEFAULT 0,
  rail_account text,
  batch_reference text,
  CONSTRAINT transfers_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT transfers_reference_key UNIQUE (merchant_id, reference),
  CONSTRAINT transfers_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT transfers_amount_check CHECK (amount > 0 AND fee >= 0),
  CONSTRAINT transfers_kind_check CHECK (kind = ANY (ARRAY['transfer'::text, 'sub_account_payout'::text, 'refund'::text])),
  CONSTRAINT transfers_progress_check CHECK (progress = ANY (ARRAY['created'::text, 'submitted'::text, 'final'::text])),
  CONSTRAINT transfers_route_check CHECK (route = ANY (ARRAY['payout'::text, 'network'::text, 'record'::text])),
  CONSTRAINT transfers_status_check CHECK (status = ANY (ARRAY['pending'::text, 'completed'::text, 'failed'::text, 'cancelled'::text, 'reversed'::text])),
  CONSTRAINT transfers_sub_account_check CHECK ((kind = 'sub_account_payout'::text) = (sub_account_id IS NOT NULL))
);
CREATE INDEX transfers_amount_idx ON transfers USING btree (merchant_id, amount, id);
CREATE INDEX transfers_batch_idx ON transfers USING btree (merchant_id, batch_reference) WHERE batch_reference IS NOT NULL;
CREATE INDEX transfers_number_idx ON transfers USING btree (merchant_id, account_canonical);
CREATE INDEX transfers_sub_account_idx ON transfers USING btree (merchant_id, sub_account_id) WHERE sub_account_id IS NOT NULL;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE typed_ids (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  rail_account text NOT NULL,
  transaction_key text NOT NULL,
  charge_id uuid NOT NULL,
  state text NOT NULL,
  typed_at timestamp with time zone NOT NULL,
  CONSTRAINT typed_ids_pkey PRIMARY KEY (merchant_id, intent_id, rail_account, transaction_key),
  CONSTRAINT typed_ids_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges(merchant_id, id),
  CONSTRAINT typed_ids_state_check CHECK (state = ANY (ARRAY['waiting'::text, 'contested'::text, 'refused'::text, 'paid'::text]))
);
CREATE INDEX typed_ids_transaction_idx ON typed_ids USING btree (merchant_id, rail_account, transaction_key);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE virtual_terminals (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  code text NOT NULL,
  chat_numbers text[] NOT NULL,
  chat_canonical text[] NOT NULL,
  active boolean NOT NULL,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  rate_limit bigint,
  CONSTRAINT virtual_terminals_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT virtual_terminals_code_key UNIQUE (merchant_id, code),
  CONSTRAINT virtual_terminals_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT virtual_terminals_rate_limit_check CHECK (rate_limit >= 0 AND rate_limit <= 100000)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE webhook_attempts (
  merchant_id uuid NOT NULL,
  delivery_id uuid NOT NULL,
  attempt bigint NOT NULL,
  status_code bigint,
  failure text,
  duration_ms bigint NOT NULL,
  response text NOT NULL,
  created_at timestamp with time zone NOT NULL,
  CONSTRAINT webhook_attempts_pkey PRIMARY KEY (merchant_id, delivery_id, attempt)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE webhook_deliveries (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  event_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  callback_url text,
  status text NOT NULL,
  attempts bigint NOT NULL,
  next_attempt_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  delivered_at timestamp with time zone,
  attempts_before bigint NOT NULL DEFAULT 0,
  CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT webhook_deliveries_endpoint_fkey FOREIGN KEY (merchant_id, endpoint_id) REFERENCES webhook_endpoints(merchant_id, id),
  CONSTRAINT webhook_deliveries_event_fkey FOREIGN KEY (merchant_id, event_id) REFERENCES events(merchant_id, id),
  CONSTRAINT webhook_deliveries_status_check CHECK (status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'kept'::text]))
);
CREATE INDEX webhook_deliveries_callback_due_idx ON webhook_deliveries USING btree (merchant_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND callback_url IS NOT NULL;
CREATE INDEX webhook_deliveries_missed_idx ON webhook_deliveries USING btree (merchant_id, endpoint_id, event_id) WHERE callback_url IS NULL AND (status = ANY (ARRAY['kept'::text, 'failed'::text]));
CREATE INDEX webhook_deliveries_own_due_idx ON webhook_deliveries USING btree (merchant_id, endpoint_id, next_attempt_at) WHERE next_attempt_at IS NOT NULL AND callback_url IS NULL;
CREATE UNIQUE INDEX webhook_deliveries_target_key ON webhook_deliveries USING btree (merchant_id, event_id, endpoint_id, (callback_url IS NULL));
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE webhook_endpoint_health (
  merchant_id uuid NOT NULL,
  endpoint_id uuid NOT NULL,
  last_success_at timestamp with time zone,
  failing_since timestamp with time zone,
  last_failure text,
  warned_at timestamp with time zone,
  event_sequence bigint NOT NULL,
  CONSTRAINT webhook_endpoint_health_pkey PRIMARY KEY (merchant_id, endpoint_id),
  CONSTRAINT webhook_endpoint_health_endpoint_fkey FOREIGN KEY (merchant_id, endpoint_id) REFERENCES webhook_endpoints(merchant_id, id)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE webhook_endpoints (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  url text,
  description text NOT NULL,
  kinds text[],
  status text NOT NULL,
  disabled_reason text,
  is_default boolean NOT NULL,
  secret bytea NOT NULL,
  previous_secret bytea,
  previous_secret_expires_at timestamp with time zone,
  created_at timestamp with time zone NOT NULL,
  updated_at timestamp with time zone NOT NULL,
  deleted_at timestamp with time zone,
  CONSTRAINT webhook_endpoints_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT webhook_endpoints_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants(id),
  CONSTRAINT webhook_endpoints_status_check CHECK (status = ANY (ARRAY['enabled'::text, 'disabled'::text]))
);
CREATE UNIQUE INDEX webhook_endpoints_default_key ON webhook_endpoints USING btree (merchant_id) WHERE is_default;
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE

CREATE TABLE write_probes (
  slot bigint NOT NULL,
  written_at timestamp with time zone NOT NULL,
  CONSTRAINT write_probes_pkey PRIMARY KEY (slot)
);
-- dalasi_app: SELECT, INSERT, UPDATE, DELETE
