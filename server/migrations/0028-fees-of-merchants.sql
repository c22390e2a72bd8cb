-- A merchant's collection fee is a row of fee_rules since migration 5; the columns that held it before have been unused since.

-- contracts: no statement of the recorded release reads or writes them
ALTER TABLE merchants
  DROP CONSTRAINT merchants_fee_check,
  DROP COLUMN fee_percent_hundredths,
  DROP COLUMN fee_fixed,
  DROP COLUMN fee_minimum,
  DROP COLUMN fee_maximum;
