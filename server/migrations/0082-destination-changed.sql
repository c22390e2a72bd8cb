-- When the destination of a sub-account's payouts was changed last. Null: never since it was created.
ALTER TABLE sub_accounts ADD COLUMN destination_changed_at timestamptz;
