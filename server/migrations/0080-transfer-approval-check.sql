-- Under a lock that blocks nobody.
ALTER TABLE businesses VALIDATE CONSTRAINT businesses_approve_transfers_check;
