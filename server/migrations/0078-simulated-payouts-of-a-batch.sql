-- Wave finds a payout by the reference of the client.
CREATE INDEX CONCURRENTLY IF NOT EXISTS payouts_client_reference_idx ON simulator.payouts (account, network, client_reference) WHERE client_reference IS NOT NULL;
