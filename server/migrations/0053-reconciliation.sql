-- Files and API statements of a rail account, and how far each was imported: an import that was interrupted goes on from
-- rows_done. Not led by a merchant: a statement is of an account at a network, which may serve all of them.
CREATE TABLE statement_imports (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  source text NOT NULL,
  name text NOT NULL,
  -- The hash of the file and its mapping, or the day of a statement by API.
  fingerprint text NOT NULL,
  -- Whether the newest line comes first; null until two lines of different times were read.
  is_descending boolean,
  rows_done bigint NOT NULL,
  lines_new bigint NOT NULL,
  lines_known bigint NOT NULL,
  lines_refused bigint NOT NULL,
  first_day date,
  last_day date,
  created_at timestamptz NOT NULL,
  finished_at timestamptz,
  CONSTRAINT statement_imports_pkey PRIMARY KEY (rail_account, id),
  CONSTRAINT statement_imports_fingerprint_key UNIQUE (rail_account, fingerprint),
  CONSTRAINT statement_imports_source_check CHECK (source IN ('file', 'api'))
);

-- Why rows of a file are no lines; the first thousand of each import.
CREATE TABLE statement_refusals (
  rail_account text NOT NULL,
  import_id uuid NOT NULL,
  row_number bigint NOT NULL,
  reason text NOT NULL,
  CONSTRAINT statement_refusals_pkey PRIMARY KEY (rail_account, import_id, row_number)
);

-- How the columns of a network's files are read.
CREATE TABLE statement_mappings (
  rail_account text NOT NULL,
  name text NOT NULL,
  definition json NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT statement_mappings_pkey PRIMARY KEY (rail_account, name)
);

-- What a network says moved on a rail account. A line is stored once, in whatever files it stands: its identity and, where one
-- file has the same line twice, its ordinal. The subject is the record that it belongs to, once it is found.
CREATE TABLE statement_lines (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  identity text NOT NULL,
  ordinal bigint NOT NULL,
  day date NOT NULL,
  at timestamptz NOT NULL,
  -- The order of lines of the same time.
  sequence bigint NOT NULL,
  import_id uuid NOT NULL,
  row_number bigint NOT NULL,
  transaction_id text NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  -- Bututs: what the line changed on the account, what was paid, and what the network kept of it (null where it does not say).
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
  CONSTRAINT statement_lines_kind_check CHECK (kind IN ('collection', 'payout', 'refund', 'collection_reversal',
    'payout_reversal', 'fee', 'other')),
  CONSTRAINT statement_lines_status_check CHECK (status IN ('completed', 'pending', 'failed')),
  CONSTRAINT statement_lines_subject_check CHECK ((subject_id IS NULL) = (merchant_id IS NULL)
    AND (subject_id IS NULL) = (subject_type IS NULL)),
  CONSTRAINT statement_lines_amounts_check CHECK (gross >= 0 AND fee >= 0)
);

-- Running balances, and the lines of a day.
CREATE INDEX statement_lines_day_idx ON statement_lines (rail_account, day, at, sequence);
-- The records of a day, in the order in which they are compared.
CREATE INDEX statement_lines_day_subject_idx ON statement_lines (rail_account, day, subject_id);
CREATE INDEX statement_lines_subject_idx ON statement_lines (rail_account, subject_id) WHERE subject_id IS NOT NULL;

-- Where records, ledger and statement differ. One row for each record or line and class.
CREATE TABLE reconciliation_differences (
  rail_account text NOT NULL,
  id uuid NOT NULL,
  class text NOT NULL,
  -- in_transit: one side may only be late; open: with a case, where one is needed; resolved: it agrees by now, or was decided.
  state text NOT NULL,
  -- The record, or the line that belongs to none.
  subject_type text NOT NULL,
  subject_id uuid NOT NULL,
  -- Whose record it is; of a line without one, whose account.
  merchant_id uuid NOT NULL,
  line_id uuid,
  day date NOT NULL,
  -- The day on which it ended, in the books' time.
  resolved_day date,
  resolution text,
  -- Bututs: what the ledger and the statement say that the account changed by.
  ours bigint NOT NULL,
  theirs bigint NOT NULL,
  currency text NOT NULL,
  summary text NOT NULL,
  case_id uuid,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT reconciliation_differences_pkey PRIMARY KEY (rail_account, id),
  CONSTRAINT reconciliation_differences_subject_key UNIQUE (rail_account, subject_id, class),
  CONSTRAINT reconciliation_differences_class_check CHECK (class IN ('missing_here', 'missing_there', 'amount', 'fee',
    'status', 'duplicate', 'reversed', 'unknown')),
  CONSTRAINT reconciliation_differences_state_check CHECK (state IN ('in_transit', 'open', 'resolved'))
);

CREATE INDEX reconciliation_differences_state_idx ON reconciliation_differences (rail_account, state, id);

-- The result of a rail account's day, with the proof of its float. May be computed again.
CREATE TABLE reconciliation_days (
  rail_account text NOT NULL,
  day date NOT NULL,
  id uuid NOT NULL,
  -- Whose own account it is; null for the operator's.
  merchant_id uuid,
  test_mode boolean NOT NULL,
  currency text NOT NULL,
  lines bigint NOT NULL,
  matched bigint NOT NULL,
  in_transit bigint NOT NULL,
  -- Differences by class.
  differences json NOT NULL,
  gaps bigint NOT NULL,
  statement_change bigint NOT NULL,
  -- Null where the statement has no balances.
  statement_closing bigint,
  ledger_change bigint NOT NULL,
  ledger_closing bigint NOT NULL,
  -- What stood on the account before the first reconciled day and not in the ledger.
  opening_difference bigint NOT NULL,
  -- The sum of what is listed as differing or in transit.
  listed bigint NOT NULL,
  -- What is left: 0 proves the float. Null without a closing balance.
  unexplained bigint,
  ran_at timestamptz NOT NULL,
  CONSTRAINT reconciliation_days_pkey PRIMARY KEY (rail_account, day)
);

-- What a business reads of its own accounts.
CREATE INDEX reconciliation_days_merchant_idx ON reconciliation_days (merchant_id, id) WHERE merchant_id IS NOT NULL;
