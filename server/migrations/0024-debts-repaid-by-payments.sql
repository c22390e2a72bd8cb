-- What a payment repaid of its merchant's debt, for its record and its events; the movements are in the ledger.

-- In bututs, as booked with the payment: neither a later repayment from the balance nor a refund changes it.
ALTER TABLE charges ADD COLUMN debt_repaid bigint NOT NULL DEFAULT 0;
ALTER TABLE charges ADD CONSTRAINT charges_debt_repaid_check CHECK (debt_repaid >= 0);
