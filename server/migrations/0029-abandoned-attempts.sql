-- When the payer left this attempt, whose outcome is still open, to use another number or network. Null again once the payer
-- has gone back to it. Of an intent's pending attempts at most one is not abandoned.
ALTER TABLE charges ADD COLUMN abandoned_at timestamptz;
