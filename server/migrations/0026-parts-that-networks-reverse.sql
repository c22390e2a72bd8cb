-- Networks may reverse a payment or a payout in several parts under one transaction. The reference of a case is then the
-- reversal's own id, and the transaction has a column: null where the reference is the transaction itself. `reported_again`
-- counts reports with no id of their own that may be repetitions of this one, or further parts of the same amount.
ALTER TABLE cases
  ADD COLUMN network_transaction_id text,
  ADD COLUMN reported_again bigint DEFAULT 0 NOT NULL;

UPDATE cases SET network_transaction_id = split_part(reference, ' part ', 1)
WHERE kind = 'partial_reversal' AND reference LIKE '% part %';

-- What of a payout the network gave back in parts, in bututs.
ALTER TABLE transfers ADD COLUMN amount_reversed bigint DEFAULT 0 NOT NULL;
