-- Where payers go, and where events are sent, for payments that name no addresses of their own.
ALTER TABLE merchants
  ADD COLUMN default_return_url text,
  ADD COLUMN default_cancel_url text,
  ADD COLUMN default_callback_url text;

-- When the payment failed, was cancelled or expired. It stays when the money comes later, so that the figures of that day do too.
ALTER TABLE payment_intents ADD COLUMN unpaid_at timestamptz;
