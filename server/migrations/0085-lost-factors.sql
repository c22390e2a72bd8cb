-- Operators who agree that a person has lost their second factor. Not validated: earlier rows are of fewer purposes.
ALTER TABLE account_tokens DROP CONSTRAINT account_tokens_purpose_check;
ALTER TABLE account_tokens
  ADD CONSTRAINT account_tokens_purpose_check
  CHECK (purpose IN ('verify_email', 'reset_password', 'set_password', 'passkey', 'lost_factor')) NOT VALID;
