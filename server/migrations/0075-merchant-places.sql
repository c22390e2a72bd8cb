-- One row for each merchant, on the node where the rows of the merchant are: what looks through all merchants starts from here.
CREATE TABLE merchant_places (
  merchant_id uuid NOT NULL,
  CONSTRAINT merchant_places_pkey PRIMARY KEY (merchant_id),
  CONSTRAINT merchant_places_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);
