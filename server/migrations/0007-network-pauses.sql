-- Where payouts are paused, shared by all processes. Not led by a merchant: a network that is down is down for all of
-- them. Only the simulated networks are paused for one merchant's payouts to one number.
CREATE TABLE network_pauses (
  network text NOT NULL,
  test_mode boolean NOT NULL,
  -- Empty for the whole network, else '<merchant id>:<canonical number>'.
  scope text NOT NULL,
  -- Null while payouts go out.
  reason text,
  since timestamptz,
  -- When the next send may go out as a probe; while one is under way, when it counts as lost.
  retry_at timestamptz,
  is_probing boolean NOT NULL,
  failed_probes bigint NOT NULL,
  -- Sends without an answer that could be understood, with no other answer between them.
  unclear_in_a_row bigint NOT NULL,
  -- Each write is guarded by the one before it.
  version bigint NOT NULL,
  updated_at timestamptz NOT NULL,
  CONSTRAINT network_pauses_pkey PRIMARY KEY (network, test_mode, scope),
  CONSTRAINT network_pauses_reason_check CHECK (reason IN ('network_unavailable', 'float_empty')),
  CONSTRAINT network_pauses_open_check CHECK (
    (reason IS NULL) = (since IS NULL) AND (reason IS NULL) = (retry_at IS NULL) AND (reason IS NOT NULL OR NOT is_probing)
  )
);

-- Work for the networks gets queues of its own at each network, so that one that hangs delays no other: what begins a
-- payment apart from what asks about one. An order without its charge stays, and is worked from the old queue.
UPDATE outbox
SET queue = 'network:' || charges.network || CASE WHEN merchants.test_mode THEN '-test' ELSE '' END
  || CASE WHEN outbox.kind = 'start_charge' THEN ':starts' ELSE ':look-ups' END
FROM charges, merchants
WHERE outbox.queue = 'networks'
  AND charges.merchant_id = outbox.merchant_id AND charges.id = outbox.subject_id
  AND merchants.id = outbox.merchant_id;
