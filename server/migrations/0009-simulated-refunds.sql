-- The simulated networks give back what they collected, as payouts to the payer that name the money they give back.

ALTER TABLE simulator.payouts
  -- The network's transaction that is given back; null for payouts.
  ADD COLUMN refunded_transaction_id text;
CREATE INDEX payouts_refunded_idx ON simulator.payouts (account, network, refunded_transaction_id)
  WHERE refunded_transaction_id IS NOT NULL;

-- A payer is told once what is given back together with what the payment brought, never more than that; another amount
-- than was asked for may have been accepted, and a network may pay after all what was refunded otherwise meanwhile.
ALTER TABLE charges
  DROP CONSTRAINT charges_amount_check,
  ADD CONSTRAINT charges_amount_check CHECK (amount > 0 AND fee >= 0 AND amount_refunded >= 0);
