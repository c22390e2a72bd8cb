-- Which operator a login of the console acts as, and with which role. Not led by a merchant: operators belong to none.
CREATE TABLE operator_logins (
  account_id uuid NOT NULL CONSTRAINT operator_logins_pkey PRIMARY KEY,
  operator_id uuid NOT NULL CONSTRAINT operator_logins_operator_key UNIQUE,
  role text NOT NULL CONSTRAINT operator_logins_role_check CHECK (role IN ('support', 'finance', 'admin')),
  created_at timestamptz NOT NULL
);

-- What operators have checked before a business goes live: one row for each ticked item.
CREATE TABLE business_checks (
  business_id uuid NOT NULL,
  item text NOT NULL,
  checked_by uuid NOT NULL,
  checked_at timestamptz NOT NULL,
  CONSTRAINT business_checks_pkey PRIMARY KEY (business_id, item)
);

-- Results of ledger verifications, so that operators see when it was last right.
CREATE TABLE ledger_verifications (
  id uuid NOT NULL CONSTRAINT ledger_verifications_pkey PRIMARY KEY,
  verified_at timestamptz NOT NULL,
  scope text NOT NULL,
  is_correct boolean NOT NULL,
  movements bigint NOT NULL,
  accounts bigint NOT NULL,
  -- What is wrong, in a sentence; null for a correct ledger.
  problem text
);
