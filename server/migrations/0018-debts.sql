-- What is owed within a merchant's books: who owes is found without reading every balance, and each debt has its case.

-- Only kinds that hold a debt, and no balance, so that a balance that changes does not touch the index.
CREATE INDEX ledger_accounts_owed_idx ON ledger_accounts (merchant_id, account, currency)
  WHERE kind IN ('receivable_merchant', 'sub_owed');

-- Cases that wait for a person are few; resolved ones stay for ever.
CREATE INDEX cases_open_idx ON cases (merchant_id, kind, subject_id) WHERE status = 'open';
