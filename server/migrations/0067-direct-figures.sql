-- What payers sent straight to the merchant's own number, and what of it has left again.
ALTER TABLE daily_figures ADD COLUMN direct bigint NOT NULL DEFAULT 0;
ALTER TABLE daily_figures ADD COLUMN direct_count bigint NOT NULL DEFAULT 0;
ALTER TABLE daily_figures ADD COLUMN direct_back bigint NOT NULL DEFAULT 0;
