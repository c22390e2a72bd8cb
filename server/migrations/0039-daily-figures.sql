-- What a merchant collected and paid on a UTC day that has ended, so that a page about a year reads hundreds of rows instead of
-- every movement. Computed from ledger_movements and payment_intents; a row is written once and never changed.
CREATE TABLE daily_figures (
  merchant_id uuid NOT NULL,
  -- network: every figure, by network; counter and link: what was collected there.
  dimension text NOT NULL,
  day date NOT NULL,
  -- The network's name, or the id of the counter or link.
  key text NOT NULL,
  collected bigint NOT NULL,
  collected_count bigint NOT NULL,
  -- Payments that somebody tried to pay and that ended unpaid.
  unpaid_count bigint NOT NULL,
  reversed bigint NOT NULL,
  paid_out bigint NOT NULL,
  paid_out_count bigint NOT NULL,
  refunded bigint NOT NULL,
  refunded_count bigint NOT NULL,
  returned bigint NOT NULL,
  -- Below zero on a day on which more fees were returned than charged.
  fees bigint NOT NULL,
  CONSTRAINT daily_figures_pkey PRIMARY KEY (merchant_id, dimension, day, key),
  CONSTRAINT daily_figures_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT daily_figures_dimension_check CHECK (dimension IN ('network', 'counter', 'link'))
);

-- Totals of all merchants on a day.
CREATE INDEX daily_figures_day_idx ON daily_figures (day, merchant_id) WHERE dimension = 'network';

-- How far a merchant's days are rolled up.
CREATE TABLE daily_figure_progress (
  merchant_id uuid NOT NULL,
  -- The first day that is not rolled up.
  next_day date NOT NULL,
  CONSTRAINT daily_figure_progress_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT daily_figure_progress_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
