-- The rail account that collects a charge or pays a transfer, chosen when it is created. Null on what an earlier release wrote,
-- which had one account for each network.
ALTER TABLE charges ADD COLUMN rail_account text;
ALTER TABLE transfers ADD COLUMN rail_account text;
