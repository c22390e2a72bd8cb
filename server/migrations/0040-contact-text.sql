-- A sentence of the merchant's own beside its contact: “at the counter until 17:00”.
ALTER TABLE merchants
  ADD COLUMN contact_text text;
