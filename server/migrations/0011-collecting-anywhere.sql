-- Collecting without a request of the merchant's server: behind a link, and at a counter with a QR code. Amounts are
-- bututs; times come from the application.

-- A hosted page that can be paid any number of times; each payment is an intent of its own.
CREATE TABLE payment_links (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  -- The end of the page's address: the merchant's short id and 128 random bits.
  token text NOT NULL,
  title text NOT NULL,
  description text,
  -- Null lets the payer enter the amount, at least `min_amount` where there is one.
  amount bigint,
  min_amount bigint,
  currency text NOT NULL,
  metadata json NOT NULL,
  redirect_url text,
  cancel_url text,
  -- Labels that the payer fills in, in their order.
  custom_fields text[] NOT NULL,
  sub_account_id uuid,
  sub_account_group_id uuid,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT payment_links_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT payment_links_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT payment_links_token_key UNIQUE (merchant_id, token),
  CONSTRAINT payment_links_amount_check CHECK (amount > 0 AND min_amount > 0 AND (amount IS NULL OR min_amount IS NULL))
);

-- A counter with a QR code of its own.
CREATE TABLE virtual_terminals (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  name text NOT NULL,
  -- Seven digits, for those who type it; unique by the directory below.
  code text NOT NULL,
  -- As they were sent, and E.164 beside them in the same order.
  chat_numbers text[] NOT NULL,
  chat_canonical text[] NOT NULL,
  active boolean NOT NULL,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  deleted_at timestamptz,
  CONSTRAINT virtual_terminals_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT virtual_terminals_merchant_fkey FOREIGN KEY (merchant_id) REFERENCES merchants (id),
  CONSTRAINT virtual_terminals_code_key UNIQUE (merchant_id, code)
);

-- Whose counter a code is: looked up before the merchant is known. Small and rarely written, fit to be copied to every
-- node, and so not led by a merchant. A code is never given out twice, also after its terminal was deleted.
CREATE TABLE terminal_codes (
  code text NOT NULL,
  merchant_id uuid NOT NULL,
  terminal_id uuid NOT NULL,
  CONSTRAINT terminal_codes_pkey PRIMARY KEY (code)
);

-- Where a payment came from, and what its payer filled in.
ALTER TABLE payment_intents
  ADD COLUMN payment_link_id uuid,
  ADD COLUMN terminal_id uuid,
  ADD COLUMN custom_fields_values json;
CREATE INDEX payment_intents_link_idx ON payment_intents (merchant_id, payment_link_id, id)
  WHERE payment_link_id IS NOT NULL;
CREATE INDEX payment_intents_terminal_idx ON payment_intents (merchant_id, terminal_id, id)
  WHERE terminal_id IS NOT NULL;

-- One message to one number about one payment.
CREATE TABLE notifications (
  merchant_id uuid NOT NULL,
  id uuid NOT NULL,
  terminal_id uuid NOT NULL,
  charge_id uuid NOT NULL,
  -- E.164.
  number text NOT NULL,
  channel text NOT NULL,
  status text NOT NULL,
  attempts bigint NOT NULL,
  due_at timestamptz,
  -- The channel's own id of the message.
  message_id text,
  failure text,
  created_at timestamptz NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT notifications_pkey PRIMARY KEY (merchant_id, id),
  CONSTRAINT notifications_once_key UNIQUE (merchant_id, charge_id, number),
  CONSTRAINT notifications_terminal_fkey FOREIGN KEY (merchant_id, terminal_id)
    REFERENCES virtual_terminals (merchant_id, id),
  CONSTRAINT notifications_status_check CHECK (
    status IN ('pending', 'sent', 'delivered', 'read', 'failed', 'dropped')
  )
);
CREATE INDEX notifications_due_idx ON notifications (merchant_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX notifications_terminal_idx ON notifications (merchant_id, terminal_id, number, id);

-- When a number was last sent something, and why nothing goes there any more. Not led by a merchant: a phone is a phone,
-- whoever writes to it.
CREATE TABLE notification_numbers (
  channel text NOT NULL,
  number text NOT NULL,
  next_at timestamptz NOT NULL,
  stopped_reason text,
  CONSTRAINT notification_numbers_pkey PRIMARY KEY (channel, number)
);

-- The messages of the development channel, shown at /simulator/chat/{number}.
CREATE TABLE simulator.chat_messages (
  number text NOT NULL,
  id uuid NOT NULL,
  body text NOT NULL,
  created_at timestamptz NOT NULL,
  CONSTRAINT chat_messages_pkey PRIMARY KEY (number, id)
);
