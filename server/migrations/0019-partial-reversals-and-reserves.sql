-- Parts of payments that networks take back, and a reserve that is kept of what merchants collect.

-- What a network took back of a charge in parts; a charge that is reversed whole says so by its status.
ALTER TABLE charges ADD COLUMN amount_reversed bigint NOT NULL DEFAULT 0;
ALTER TABLE charges ADD CONSTRAINT charges_amount_reversed_check CHECK (amount_reversed >= 0);

-- The part of its money that waits until settles_at; the rest waits for the settlement delay only. 0 is no reserve.
ALTER TABLE charges ADD COLUMN reserve_percent_hundredths bigint NOT NULL DEFAULT 0;
ALTER TABLE charges ADD CONSTRAINT charges_reserve_check CHECK (reserve_percent_hundredths BETWEEN 0 AND 10000);

-- A merchant's own reserve rule. Read with the merchant, so as small and as fit to be copied as merchants.
CREATE TABLE reserve_rules (
  merchant_id uuid NOT NULL,
  -- The part of each payment that is kept back; 0 frees the merchant of the operator's default.
  percent_hundredths bigint NOT NULL,
  hours bigint NOT NULL,
  -- How many days after the merchant was created it ends; null is never.
  new_for_days bigint,
  CONSTRAINT reserve_rules_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT reserve_rules_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT reserve_rules_values_check CHECK (
    percent_hundredths BETWEEN 0 AND 10000 AND hours BETWEEN 0 AND 8784 AND new_for_days BETWEEN 1 AND 3660
  )
);

-- The operator's reserve rule for live merchants without one of their own: one row or none, so not led by a merchant.
CREATE TABLE default_reserve_rules (
  kind text NOT NULL,
  percent_hundredths bigint NOT NULL,
  hours bigint NOT NULL,
  new_for_days bigint,
  CONSTRAINT default_reserve_rules_pkey PRIMARY KEY (kind),
  CONSTRAINT default_reserve_rules_kind_check CHECK (kind = 'reserve'),
  CONSTRAINT default_reserve_rules_values_check CHECK (
    percent_hundredths BETWEEN 1 AND 10000 AND hours BETWEEN 1 AND 8784 AND new_for_days BETWEEN 1 AND 3660
  )
);

-- What a sub-account owed at a moment, and since when: its movements in their order, from either side.
CREATE INDEX ledger_movements_sub_owed_debit_idx ON ledger_movements (merchant_id, debit_account, id)
  WHERE debit_account LIKE 'sub_owed:%';
CREATE INDEX ledger_movements_sub_owed_credit_idx ON ledger_movements (merchant_id, credit_account, id)
  WHERE credit_account LIKE 'sub_owed:%';

-- What stands in suspense is watched for all merchants: a row of each that ever had something there.
CREATE INDEX ledger_accounts_suspense_idx ON ledger_accounts (merchant_id, currency) WHERE account = 'suspense';
