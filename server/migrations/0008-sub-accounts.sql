-- Sharing revenue: sub-accounts and their groups, the split of each payment, payouts of what they have, and refunds.
-- Amounts are bututs; times come from the application.

-- Somebody who gets a part of a merchant's payments. Deleted ones stay for the history; nothing finds them any more.
CREATE TABLE sub_accounts (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  percent_hundredths bigint NOT NULL,
  -- The network that pays them, and the number there: as it was sent, and its canonical form beside it.
  settlement_code text NOT NULL,
  account_number text NOT NULL,
  account_canonical text NOT NULL,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT sub_accounts_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT sub_accounts_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT sub_accounts_percentage_check CHECK (percent_hundredths BETWEEN 1 AND 10000)
);

CREATE TABLE sub_account_groups (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT sub_account_groups_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT sub_account_groups_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);

-- A group's own percentages, in the order in which its members were named. The rows of a deleted group are removed.
CREATE TABLE sub_account_group_members (
  merchant_id uuid NOT NULL,
  group_id uuid NOT NULL,
  position bigint NOT NULL,
  sub_account_id uuid NOT NULL,
  percent_hundredths bigint NOT NULL,
  CONSTRAINT sub_account_group_members_pkey PRIMARY KEY (merchant_id, group_id, position),
  CONSTRAINT sub_account_group_members_group_fkey FOREIGN KEY (merchant_id, group_id)
    REFERENCES sub_account_groups (merchant_id, id),
  CONSTRAINT sub_account_group_members_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id)
    REFERENCES sub_accounts (merchant_id, id),
  CONSTRAINT sub_account_group_members_once_key UNIQUE (merchant_id, group_id, sub_account_id),
  CONSTRAINT sub_account_group_members_percentage_check CHECK (percent_hundredths BETWEEN 1 AND 10000)
);
-- Finds the groups of a sub-account, which keep it from being deleted.
CREATE INDEX sub_account_group_members_sub_account_idx ON sub_account_group_members (merchant_id, sub_account_id);

ALTER TABLE payment_intents
  ADD COLUMN sub_account_id uuid,
  ADD COLUMN sub_account_group_id uuid;

-- The split of a payment, fixed when it was created: later changes of a sub-account or group touch later payments only.
CREATE TABLE intent_shares (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  position bigint NOT NULL,
  sub_account_id uuid NOT NULL,
  percent_hundredths bigint NOT NULL,
  amount bigint NOT NULL,
  CONSTRAINT intent_shares_pkey PRIMARY KEY (merchant_id, intent_id, position),
  CONSTRAINT intent_shares_intent_fkey FOREIGN KEY (merchant_id, intent_id)
    REFERENCES payment_intents (merchant_id, id),
  CONSTRAINT intent_shares_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id)
    REFERENCES sub_accounts (merchant_id, id),
  CONSTRAINT intent_shares_amount_check CHECK (amount > 0)
);
CREATE INDEX intent_shares_sub_account_idx ON intent_shares (merchant_id, sub_account_id, intent_id);

-- When collected money can be spent: at once where `settles_at` is null, else from `settled_at` on.
ALTER TABLE charges
  ADD COLUMN settles_at timestamptz,
  ADD COLUMN settled_at timestamptz;

-- Why a sub-account has what it has: its movements in their order, from either side.
CREATE INDEX ledger_movements_sub_debit_idx ON ledger_movements (merchant_id, debit_account, id)
  WHERE debit_account LIKE 'sub:%';
CREATE INDEX ledger_movements_sub_credit_idx ON ledger_movements (merchant_id, credit_account, id)
  WHERE credit_account LIKE 'sub:%';

-- Payouts of sub-accounts and refunds go out like transfers and are looked up like them.
ALTER TABLE transfers
  DROP CONSTRAINT transfers_kind_check,
  ADD COLUMN sub_account_id uuid,
  -- How a refund goes back: by the network that collected it (`network`), or as a payout to the payer (`payout`).
  ADD COLUMN route text NOT NULL DEFAULT 'payout',
  -- The network's own reference of the collection that is refunded.
  ADD COLUMN original_reference text,
  ADD CONSTRAINT transfers_kind_check CHECK (kind IN ('transfer', 'sub_account_payout', 'refund')),
  ADD CONSTRAINT transfers_sub_account_check CHECK ((kind = 'sub_account_payout') = (sub_account_id IS NOT NULL)),
  ADD CONSTRAINT transfers_route_check CHECK (route IN ('payout', 'network'));
CREATE INDEX transfers_sub_account_idx ON transfers (merchant_id, sub_account_id) WHERE sub_account_id IS NOT NULL;

-- Which period a sub-account has been settled for: one payout each, however many workers and restarts.
CREATE TABLE settlement_periods (
  merchant_id uuid NOT NULL,
  sub_account_id uuid NOT NULL,
  -- The UTC day or Monday on which the period begins.
  period date NOT NULL,
  -- Null where it could not be paid out; `refusal` is the error code that says why.
  transfer_id uuid,
  refusal text,
  created_at timestamptz NOT NULL,
  CONSTRAINT settlement_periods_refusal_check CHECK ((transfer_id IS NULL) = (refusal IS NOT NULL)),
  CONSTRAINT settlement_periods_pkey PRIMARY KEY (merchant_id, sub_account_id, period),
  CONSTRAINT settlement_periods_sub_account_fkey FOREIGN KEY (merchant_id, sub_account_id)
    REFERENCES sub_accounts (merchant_id, id)
);

-- Which periods of a merchant are done: every sub-account was looked at, and what becomes due later waits for the next.
CREATE TABLE settlement_runs (
  merchant_id uuid NOT NULL,
  period date NOT NULL,
  finished_at timestamptz NOT NULL,
  CONSTRAINT settlement_runs_pkey PRIMARY KEY (merchant_id, period),
  CONSTRAINT settlement_runs_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);

ALTER TABLE merchants ADD COLUMN sub_account_payouts text NOT NULL DEFAULT 'manual';
ALTER TABLE merchants ADD CONSTRAINT merchants_sub_account_payouts_check
  CHECK (sub_account_payouts IN ('manual', 'daily', 'weekly'));

-- What was given back may be more than was asked for: where another amount was accepted, and where a network pays a
-- refund out after all that had failed and was made again.
ALTER TABLE charges
  DROP CONSTRAINT charges_amount_check,
  ADD CONSTRAINT charges_amount_check CHECK (amount > 0 AND fee >= 0 AND amount_refunded >= 0);

-- A refund; its money goes out by the transfer of the same id, whose status is the refund's.
CREATE TABLE refunds (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  charge_id uuid NOT NULL,
  amount bigint NOT NULL,
  currency text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT refunds_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT refunds_charge_fkey FOREIGN KEY (merchant_id, charge_id) REFERENCES charges (merchant_id, id),
  CONSTRAINT refunds_transfer_fkey FOREIGN KEY (merchant_id, id) REFERENCES transfers (merchant_id, id),
  CONSTRAINT refunds_amount_check CHECK (amount > 0)
);
CREATE INDEX refunds_charge_idx ON refunds (merchant_id, charge_id);

-- What each party of a charge gave back with a refund. `account` is the ledger's: sub:<id>, fees, payable_available.
CREATE TABLE refund_parts (
  merchant_id uuid NOT NULL,
  refund_id uuid NOT NULL,
  account text NOT NULL,
  amount bigint NOT NULL,
  -- How much of it the merchant advanced, because the sub-account no longer had it.
  advanced bigint NOT NULL,
  CONSTRAINT refund_parts_pkey PRIMARY KEY (merchant_id, refund_id, account),
  CONSTRAINT refund_parts_refund_fkey FOREIGN KEY (merchant_id, refund_id) REFERENCES refunds (merchant_id, id),
  CONSTRAINT refund_parts_amount_check CHECK (amount > 0 AND advanced BETWEEN 0 AND amount)
);
