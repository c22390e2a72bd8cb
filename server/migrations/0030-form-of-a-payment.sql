-- Which form of a hosted page created the payment: a hash of the link or counter, the form's random id, the amount and the answers.
-- Null for payments that no such form created, and once the form may create another one.
ALTER TABLE payment_intents ADD COLUMN form_hash text;
