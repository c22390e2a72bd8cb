-- Customers: whom a merchant knows by name. Times come from the application.

-- A deleted one keeps its row, so that payments go on naming it, and nothing of the person.
CREATE TABLE customers (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text,
  email text,
  -- As it was sent; the forms it is recognised by are in customer_identities.
  phone text,
  metadata json NOT NULL,
  event_sequence bigint NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT customers_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT customers_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT customers_name_check CHECK ((name IS NULL) = (deleted_at IS NOT NULL)),
  CONSTRAINT customers_forgotten_check CHECK (deleted_at IS NULL OR (email IS NULL AND phone IS NULL))
);

-- What a customer is recognised by: the email address in lower case, and every number of the line, E.164. Several
-- customers may share one, and the rows of a deleted customer are removed.
CREATE TABLE customer_identities (
  merchant_id uuid NOT NULL,
  identity text NOT NULL,
  customer_id uuid NOT NULL,
  CONSTRAINT customer_identities_pkey PRIMARY KEY (merchant_id, identity, customer_id),
  CONSTRAINT customer_identities_customer_fkey FOREIGN KEY (merchant_id, customer_id)
    REFERENCES customers (merchant_id, id)
);
CREATE INDEX customer_identities_customer_idx ON customer_identities (merchant_id, customer_id);

-- Who looks for a customer before making one locks a row for each identity it has, so that two at once make one. A
-- bucket is a few bits of the identity's hash: they tell of nobody, and there are never many rows.
CREATE TABLE customer_turns (
  merchant_id uuid NOT NULL,
  bucket bigint NOT NULL,
  CONSTRAINT customer_turns_pkey PRIMARY KEY (merchant_id, bucket),
  CONSTRAINT customer_turns_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id)
);

-- The payments of a customer.
CREATE INDEX payment_intents_customer_idx ON payment_intents (merchant_id, customer_id, id)
  WHERE customer_id IS NOT NULL;
