-- What a merchant's payers see: its colour, and whom they can contact.
ALTER TABLE merchants
  ADD COLUMN page_colour text,
  ADD COLUMN contact_phone text,
  ADD COLUMN contact_whatsapp text,
  ADD COLUMN contact_email text;
ALTER TABLE merchants
  ADD CONSTRAINT merchants_page_colour_check CHECK (page_colour ~ '^#[0-9a-f]{6}$') NOT VALID;
