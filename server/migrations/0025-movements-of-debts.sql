-- The history of what merchants owe, found without reading all of their movements: the chore that nets debts, the operator's
-- list and the figures ask for it every few seconds.

CREATE INDEX ledger_movements_receivable_debit_idx ON ledger_movements (merchant_id, id)
  WHERE debit_account = 'receivable_merchant';
CREATE INDEX ledger_movements_receivable_credit_idx ON ledger_movements (merchant_id, id)
  WHERE credit_account = 'receivable_merchant';
