-- Up to which request the bodies of a merchant's logged requests are deleted, so that no batch looks at the older ones again.
CREATE TABLE request_log_trims (
  merchant_id uuid NOT NULL,
  trimmed_to uuid NOT NULL,
  CONSTRAINT request_log_trims_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT request_log_trims_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
