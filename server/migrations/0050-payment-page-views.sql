-- When the hosted page of a payment was opened first and last, for its timeline; one row for each payment that was opened. No
-- foreign key: a view does not wait for a transaction that changes its payment.
CREATE TABLE payment_page_views (
  merchant_id uuid NOT NULL,
  intent_id uuid NOT NULL,
  views bigint NOT NULL,
  first_viewed_at timestamptz NOT NULL,
  last_viewed_at timestamptz NOT NULL,
  CONSTRAINT payment_page_views_pkey PRIMARY KEY (merchant_id, intent_id)
);
