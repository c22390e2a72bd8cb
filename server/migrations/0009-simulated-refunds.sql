-- The simulated networks give back what they collected, as payouts to the payer that name the money they give back.

ALTER TABLE simulator.payouts
  -- The network's transaction that is given back; null for payouts.
  ADD COLUMN refunded_transaction_id text;
CREATE INDEX payouts_refunded_idx ON simulator.payouts (account, network, refunded_transaction_id)
  WHERE refunded_transaction_id IS NOT NULL;
