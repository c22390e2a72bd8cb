-- What a payment repaid of its merchant's debt, and rate limits of single merchants, links and counters.

-- In bututs, as booked with the payment: neither a later repayment from the balance nor a refund changes it.
ALTER TABLE charges ADD COLUMN debt_repaid bigint NOT NULL DEFAULT 0;
ALTER TABLE charges ADD CONSTRAINT charges_debt_repaid_check CHECK (debt_repaid >= 0);

-- The part of the merchant's requests a second that one of several keys may send; null takes the server's setting.
ALTER TABLE merchants ADD COLUMN rate_limit_key_percent bigint;
ALTER TABLE merchants ADD CONSTRAINT merchants_rate_limit_key_percent_check
  CHECK (rate_limit_key_percent BETWEEN 1 AND 100);

-- New payments a second from the page of each link and counter of the merchant; null takes the server's setting, 0 is no limit.
ALTER TABLE merchants ADD COLUMN rate_limit_pages bigint;
ALTER TABLE merchants ADD CONSTRAINT merchants_rate_limit_pages_check CHECK (rate_limit_pages BETWEEN 0 AND 100000);

-- The same for one page; null takes the merchant's.
ALTER TABLE payment_links ADD COLUMN rate_limit bigint;
ALTER TABLE payment_links ADD CONSTRAINT payment_links_rate_limit_check CHECK (rate_limit BETWEEN 0 AND 100000);
ALTER TABLE virtual_terminals ADD COLUMN rate_limit bigint;
ALTER TABLE virtual_terminals ADD CONSTRAINT virtual_terminals_rate_limit_check CHECK (rate_limit BETWEEN 0 AND 100000);
