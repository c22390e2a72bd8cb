-- A payout of a sub-account, too, waits for a second person above the business's amount. Null: a transfer of the merchant's own money.
ALTER TABLE transfer_requests ADD COLUMN sub_account_id uuid;
