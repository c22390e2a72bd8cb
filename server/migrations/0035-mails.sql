-- Mails to people, such as links to confirm an address. The text is sealed, and erased once it was sent. Not led by a merchant.
CREATE TABLE mails (
  id uuid NOT NULL CONSTRAINT mails_pkey PRIMARY KEY,
  recipient text NOT NULL,
  subject text NOT NULL,
  -- Null once it was sent or given up.
  sealed_text bytea,
  attempts bigint NOT NULL DEFAULT 0,
  -- When it is tried next; null once it was sent or given up.
  due_at timestamptz,
  sent_at timestamptz,
  -- What the last try failed with.
  failure text,
  created_at timestamptz NOT NULL
);
CREATE INDEX mails_due_idx ON mails (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX mails_created_idx ON mails (created_at);
