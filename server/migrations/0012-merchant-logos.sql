-- What stands on a merchant's posters: a PNG of at most 200 kB, checked before it is stored.
CREATE TABLE merchant_logos (
  merchant_id uuid NOT NULL,
  png bytea NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT merchant_logos_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT merchant_logos_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT merchant_logos_png_check CHECK (octet_length(png) BETWEEN 1 AND 204800)
);
