-- What collecting and transferring costs, and how much a merchant may order: the operator's defaults, and rules of single
-- merchants, which go before them. Amounts are bututs.

-- A merchant's own fee rules. Read with the merchant by every request, so as small and as fit to be copied as merchants.
CREATE TABLE fee_rules (
  merchant_id uuid NOT NULL,
  operation text NOT NULL,
  -- A network, or 'all'.
  network text NOT NULL,
  percent_hundredths bigint NOT NULL,
  fixed bigint NOT NULL,
  minimum bigint NOT NULL,
  maximum bigint,
  CONSTRAINT fee_rules_pkey PRIMARY KEY (merchant_id, operation, network),
  CONSTRAINT fee_rules_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT fee_rules_operation_check CHECK (operation IN ('collection', 'transfer')),
  -- Collecting costs the same on every network: the fee is fixed before the payer chooses one.
  CONSTRAINT fee_rules_network_check CHECK (operation = 'transfer' OR network = 'all'),
  CONSTRAINT fee_rules_amounts_check CHECK (
    percent_hundredths BETWEEN 0 AND 10000 AND fixed >= 0 AND minimum >= 0 AND (maximum IS NULL OR maximum >= minimum)
  )
);

-- The operator's fee rules for merchants without one of their own. Nobody's rows, so not led by a merchant.
CREATE TABLE default_fee_rules (
  operation text NOT NULL,
  network text NOT NULL,
  percent_hundredths bigint NOT NULL,
  fixed bigint NOT NULL,
  minimum bigint NOT NULL,
  maximum bigint,
  CONSTRAINT default_fee_rules_pkey PRIMARY KEY (operation, network),
  CONSTRAINT default_fee_rules_operation_check CHECK (operation IN ('collection', 'transfer')),
  CONSTRAINT default_fee_rules_network_check CHECK (operation = 'transfer' OR network = 'all'),
  CONSTRAINT default_fee_rules_amounts_check CHECK (
    percent_hundredths BETWEEN 0 AND 10000 AND fixed >= 0 AND minimum >= 0 AND (maximum IS NULL OR maximum >= minimum)
  )
);

-- How much a merchant may order: `largest` is one transfer, `daily` all transfers of a UTC day.
CREATE TABLE transfer_limits (
  merchant_id uuid NOT NULL,
  kind text NOT NULL,
  -- Null frees the merchant of the operator's default.
  amount bigint,
  CONSTRAINT transfer_limits_pkey PRIMARY KEY (merchant_id, kind),
  CONSTRAINT transfer_limits_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT transfer_limits_kind_check CHECK (kind IN ('largest', 'daily')),
  CONSTRAINT transfer_limits_amount_check CHECK (amount >= 0)
);

-- The operator's limits for merchants without one of their own. Nobody's rows, so not led by a merchant.
CREATE TABLE default_transfer_limits (
  kind text NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT default_transfer_limits_pkey PRIMARY KEY (kind),
  CONSTRAINT default_transfer_limits_kind_check CHECK (kind IN ('largest', 'daily')),
  CONSTRAINT default_transfer_limits_amount_check CHECK (amount >= 0)
);

-- What a merchant has ordered on a UTC day, less what failed or was cancelled. Counted for every merchant, so that a
-- limit which is introduced in the middle of a day knows what went before.
CREATE TABLE transfer_days (
  merchant_id uuid NOT NULL,
  day date NOT NULL,
  currency text NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT transfer_days_pkey PRIMARY KEY (merchant_id, day, currency),
  CONSTRAINT transfer_days_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT transfer_days_amount_check CHECK (amount >= 0)
);

-- A merchant's collection rule moves from its row into fee_rules; one that takes nothing is no rule, so that it follows
-- the operator's default. Who pays the fee stays where it is.
MERGE INTO fee_rules
USING (
  SELECT id, fee_percent_hundredths, fee_fixed, fee_minimum, fee_maximum FROM merchants
  WHERE fee_percent_hundredths > 0 OR fee_fixed > 0 OR fee_minimum > 0
) AS charged
ON fee_rules.merchant_id = charged.id
WHEN NOT MATCHED THEN
  INSERT (merchant_id, operation, network, percent_hundredths, fixed, minimum, maximum)
  VALUES (charged.id, 'collection', 'all', charged.fee_percent_hundredths, charged.fee_fixed, charged.fee_minimum,
          charged.fee_maximum);

-- The old columns are neither read nor written any more. They stay until the next version, because processes of the
-- version before this one read them, and go on while this one is being put in place.
ALTER TABLE merchants
  ALTER COLUMN fee_percent_hundredths SET DEFAULT 0,
  ALTER COLUMN fee_fixed SET DEFAULT 0,
  ALTER COLUMN fee_minimum SET DEFAULT 0;
