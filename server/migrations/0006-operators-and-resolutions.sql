-- Who decides what a rule may not decide, and what they decided. Amounts are bututs; times come from the application.

-- Identity: the people who run the service. Not led by a merchant, because an operator works for all of them; looked up
-- by the credential's HMAC. A handful of rows, written by hand.
CREATE TABLE operators (
  id uuid NOT NULL,
  name text NOT NULL,
  credential_hmac bytea NOT NULL,
  pepper_version bigint NOT NULL,
  created_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CONSTRAINT operators_pkey PRIMARY KEY (id),
  CONSTRAINT operators_credential_key UNIQUE (credential_hmac)
);

-- Append-only: the serving role may insert and read, nothing else. Each step that somebody took with a case: a proposal,
-- its withdrawal, its confirmation. The operators are named without a foreign key, which every tenant table leads by its
-- merchant.
CREATE TABLE case_resolutions (
  merchant_id uuid NOT NULL,
  case_id uuid NOT NULL,
  id uuid NOT NULL,
  -- proposed, withdrawn, confirmed; `closed` where another case's resolution ended this one too.
  step text NOT NULL,
  -- The step that proposed it; the proposal's own id on the proposal itself.
  proposal_id uuid NOT NULL,
  resolution text NOT NULL,
  -- Why, in the words of whoever proposed it.
  evidence text,
  -- What the network told the operator of the money, where the resolution needs it.
  transaction_id text,
  amount bigint,
  operator_id uuid NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT case_resolutions_pkey PRIMARY KEY (merchant_id, case_id, id),
  CONSTRAINT case_resolutions_case_fkey FOREIGN KEY (merchant_id, case_id) REFERENCES cases (merchant_id, id),
  CONSTRAINT case_resolutions_step_check CHECK (step IN ('proposed', 'withdrawn', 'confirmed', 'closed')),
  CONSTRAINT case_resolutions_evidence_check CHECK ((step IN ('proposed', 'closed')) = (evidence IS NOT NULL)),
  CONSTRAINT case_resolutions_money_check CHECK ((transaction_id IS NULL) = (amount IS NULL) AND amount > 0)
);

-- The proposal that waits for a second operator, and in the end how the case was resolved.
ALTER TABLE cases ADD COLUMN proposal_id uuid;
ALTER TABLE cases ADD COLUMN resolution text;
CREATE INDEX cases_subject_idx ON cases (merchant_id, subject_id);

-- What came where it is not what was asked for, while it waits for a person and when one accepted it; null is
-- `amount_paid`. A refund gives back what came.
ALTER TABLE charges ADD COLUMN amount_received bigint;
ALTER TABLE charges DROP CONSTRAINT charges_amount_check;
ALTER TABLE charges ADD CONSTRAINT charges_amount_check CHECK (
  amount > 0 AND fee >= 0 AND amount_received > 0
  AND amount_refunded BETWEEN 0 AND COALESCE(amount_received, amount_paid)
);
