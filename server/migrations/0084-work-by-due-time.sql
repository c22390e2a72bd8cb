-- A sweep reads what has fallen due since the last one, whoever's it is. In another type than the column, so that a claim, which
-- begins with its merchant, cannot use it and read the work of all.
CREATE INDEX CONCURRENTLY IF NOT EXISTS outbox_due_lately_idx ON outbox ((due_at AT TIME ZONE 'UTC'));
