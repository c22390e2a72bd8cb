-- What the channels of notices to staff have to remember. Times come from the application. None of it is led by a
-- merchant: a channel, a phone and a chat are the same for all of them.

-- Since when nothing goes to a number, and what the channel itself calls it (WhatsApp's wa_id): for a line whose number
-- was changed the two differ.
ALTER TABLE notification_numbers
  ADD COLUMN stopped_at timestamptz,
  ADD COLUMN recipient text,
  ADD CONSTRAINT notification_numbers_stopped_check CHECK ((stopped_reason IS NULL) = (stopped_at IS NULL));

-- Channels that take nothing at all: a row is there while one is stopped. At `retry_at` one message is let through, to
-- see.
CREATE TABLE notification_channels (
  channel text NOT NULL,
  -- What is wrong: the message's template, or the channel (its credentials, its bill).
  scope text NOT NULL,
  reason text NOT NULL,
  stopped_at timestamptz NOT NULL,
  retry_at timestamptz NOT NULL,
  CONSTRAINT notification_channels_pkey PRIMARY KEY (channel),
  CONSTRAINT notification_channels_scope_check CHECK (scope IN ('template', 'channel'))
);

-- Whose Telegram chat is which: there from the moment somebody shares their own number with the bot.
CREATE TABLE telegram_chats (
  -- E.164.
  number text NOT NULL,
  chat_id text NOT NULL,
  linked_at timestamptz NOT NULL,
  CONSTRAINT telegram_chats_pkey PRIMARY KEY (number)
);
CREATE INDEX telegram_chats_chat_idx ON telegram_chats (chat_id);
