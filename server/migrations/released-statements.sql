-- What the release sends to its database; a newer schema has to take it while an upgrade rolls.
-- through migration 0033
-- Written by node tools/record-statements.ts.

-- statement 
UPDATE payment_intents SET status = 'requires_payment_method' WHERE merchant_id = $1;

-- statement api_keys_exist
-- across merchants: one pepper is everybody's
           SELECT EXISTS (SELECT FROM api_keys) AS found;

-- statement api_keys_find_by_hmac
-- across merchants: the key says whose it is
           SELECT merchant_id AS "merchantId", id, NOT EXISTS (
             SELECT FROM api_keys AS other
             WHERE other.merchant_id = api_keys.merchant_id AND other.id <> api_keys.id AND other.revoked_at IS NULL
           ) AS "isOnly"
           FROM api_keys WHERE key_hmac = $1 AND revoked_at IS NULL;

-- statement api_keys_insert
INSERT INTO api_keys (merchant_id, id, key_hmac, pepper_version, last_four, name, created_at, revoked_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- statement api_keys_list
SELECT merchant_id AS "merchantId", id, last_four AS "lastFour", name, created_at AS "createdAt",
  revoked_at AS "revokedAt" FROM api_keys WHERE merchant_id = $1 ORDER BY created_at, id;

-- statement api_keys_revoke
UPDATE api_keys SET revoked_at = $3 WHERE merchant_id = $1 AND id = $2 AND revoked_at IS NULL;

-- statement businesses_insert
INSERT INTO businesses (id, name, created_at) VALUES ($1, $2, $3);

-- statement case_resolutions_insert
INSERT INTO case_resolutions (merchant_id, case_id, id, step, proposal_id, resolution, evidence,
             transaction_id, amount, operator_id, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11);

-- statement case_resolutions_list
SELECT merchant_id AS "merchantId", case_id AS "caseId", id, step, proposal_id AS "proposalId", resolution,
             evidence, transaction_id AS "transactionId", amount AS "amountMinor", operator_id AS "operatorId",
             created_at AS "createdAt"
           FROM case_resolutions WHERE merchant_id = $1 AND case_id = $2 ORDER BY created_at, id;

-- statement cases_close
UPDATE cases SET status = 'resolved', resolution = $3, resolved_at = $4, proposal_id = NULL
           WHERE merchant_id = $1 AND id = $2 AND status = 'open';

-- statement cases_count_open
-- across merchants: the operator watches all of them
           SELECT kind, count(*) AS count, min(created_at) AS oldest FROM cases WHERE status = 'open' GROUP BY kind;

-- statement cases_count_report
UPDATE cases SET reported_again = reported_again + 1 WHERE merchant_id = $1 AND id = $2;

-- statement cases_find_by_id
-- across merchants: the operator knows the case, not whose it is
           SELECT merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution FROM cases WHERE id = $1;

-- statement cases_insert_once
INSERT INTO cases (merchant_id, id, kind, status, subject_type, subject_id, reference, amount, currency,
             summary, created_at, network_transaction_id)
           VALUES ($1, $2, $3, 'open', $4, $5, $6, $7, $8, $9, $10, $11)
           ON CONFLICT (merchant_id, kind, subject_id, reference) DO NOTHING;

-- statement cases_list
-- across merchants: the operator works on the cases of all of them
           SELECT merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution FROM cases WHERE $1::text IS NULL OR status = $1 ORDER BY id DESC LIMIT $2;

-- statement cases_list_of_subject
SELECT merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution FROM cases WHERE merchant_id = $1 AND subject_id = $2 ORDER BY id;

-- statement cases_list_open_of_kind
-- across merchants: the worker updates the cases of all of them
           SELECT merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution FROM cases WHERE kind = $1 AND status = 'open' ORDER BY merchant_id, id;

-- statement cases_lock_open_of_subject
SELECT merchant_id AS "merchantId", id, kind, status, subject_type AS "subjectType",
  subject_id AS "subjectId", reference, COALESCE(network_transaction_id, reference) AS "transactionId",
  amount AS "amountMinor", currency, summary, reported_again AS "reportedAgain", created_at AS "createdAt",
  resolved_at AS "resolvedAt", proposal_id AS "proposalId", resolution FROM cases WHERE merchant_id = $1 AND subject_id = $2 AND status = 'open'
           ORDER BY id FOR UPDATE;

-- statement cases_update_proposal
UPDATE cases SET proposal_id = $4
           WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND proposal_id IS NOT DISTINCT FROM $3;

-- statement cases_update_sum
UPDATE cases SET amount = $3, summary = $4
           WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND proposal_id IS NULL;

-- statement charge_notes_count
SELECT count(*) FROM charge_notes WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3;

-- statement charge_notes_find_last
SELECT created_at AS "createdAt" FROM charge_notes
           WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 ORDER BY id DESC LIMIT 1;

-- statement charge_notes_insert
INSERT INTO charge_notes (merchant_id, charge_id, id, kind, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6);

-- statement charge_notes_list
SELECT merchant_id AS "merchantId", charge_id AS "chargeId", id, kind, detail, created_at AS "createdAt"
           FROM charge_notes WHERE merchant_id = $1 AND charge_id = ANY ($2::uuid[]) ORDER BY id DESC LIMIT 500;

-- statement charges_count_all
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1   LIMIT $2
           ) AS counted;

-- statement charges_count_customer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $2)  LIMIT $3
           ) AS counted;

-- statement charges_count_from
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at >= $2  LIMIT $3
           ) AS counted;

-- statement charges_count_from_to
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at >= $2 AND charges.created_at <= $3  LIMIT $4
           ) AS counted;

-- statement charges_count_link
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $2)  LIMIT $3
           ) AS counted;

-- statement charges_count_link_sub_account
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $2) AND charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = $3)  LIMIT $4
           ) AS counted;

-- statement charges_count_status
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2  LIMIT $3
           ) AS counted;

-- statement charges_count_status_customer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $3)  LIMIT $4
           ) AS counted;

-- statement charges_count_status_customer_term_or_payer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $3) AND ((charges.account_number ILIKE ANY ($4::text[]) OR charges.account_canonical ILIKE ANY ($4::text[]) OR charges.reference ILIKE ANY ($4::text[]) OR charges.transaction_reference ILIKE ANY ($4::text[]) OR charges.network_reference ILIKE ANY ($4::text[]) OR charges.network_transaction_id ILIKE ANY ($4::text[]) OR charges.id::text ILIKE ANY ($4::text[]) OR charges.intent_id::text ILIKE ANY ($4::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $5 OR customer_email ILIKE $5 OR customer_phone ILIKE $5 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($6::text[]))
    ))  LIMIT $7
           ) AS counted;

-- statement charges_count_status_link
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $3)  LIMIT $4
           ) AS counted;

-- statement charges_count_status_term_or_payer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND ((charges.account_number ILIKE ANY ($3::text[]) OR charges.account_canonical ILIKE ANY ($3::text[]) OR charges.reference ILIKE ANY ($3::text[]) OR charges.transaction_reference ILIKE ANY ($3::text[]) OR charges.network_reference ILIKE ANY ($3::text[]) OR charges.network_transaction_id ILIKE ANY ($3::text[]) OR charges.id::text ILIKE ANY ($3::text[]) OR charges.intent_id::text ILIKE ANY ($3::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $4 OR customer_email ILIKE $4 OR customer_phone ILIKE $4 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($5::text[]))
    ))  LIMIT $6
           ) AS counted;

-- statement charges_count_status_terminal
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $3)  LIMIT $4
           ) AS counted;

-- statement charges_count_sub_account
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = $2)  LIMIT $3
           ) AS counted;

-- statement charges_count_term_or_payer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND ((charges.account_number ILIKE ANY ($2::text[]) OR charges.account_canonical ILIKE ANY ($2::text[]) OR charges.reference ILIKE ANY ($2::text[]) OR charges.transaction_reference ILIKE ANY ($2::text[]) OR charges.network_reference ILIKE ANY ($2::text[]) OR charges.network_transaction_id ILIKE ANY ($2::text[]) OR charges.id::text ILIKE ANY ($2::text[]) OR charges.intent_id::text ILIKE ANY ($2::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $3 OR customer_email ILIKE $3 OR customer_phone ILIKE $3 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($4::text[]))
    ))  LIMIT $5
           ) AS counted;

-- statement charges_count_terminal
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2)  LIMIT $3
           ) AS counted;

-- statement charges_count_terminal_link
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2) AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $3)  LIMIT $4
           ) AS counted;

-- statement charges_count_terminal_term_or_payer
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2) AND ((charges.account_number ILIKE ANY ($3::text[]) OR charges.account_canonical ILIKE ANY ($3::text[]) OR charges.reference ILIKE ANY ($3::text[]) OR charges.transaction_reference ILIKE ANY ($3::text[]) OR charges.network_reference ILIKE ANY ($3::text[]) OR charges.network_transaction_id ILIKE ANY ($3::text[]) OR charges.id::text ILIKE ANY ($3::text[]) OR charges.intent_id::text ILIKE ANY ($3::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $4 OR customer_email ILIKE $4 OR customer_phone ILIKE $4 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($5::text[]))
    ))  LIMIT $6
           ) AS counted;

-- statement charges_count_to
SELECT count(*) AS count FROM (
             SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at <= $2  LIMIT $3
           ) AS counted;

-- statement charges_find_by_id
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND id = $2;

-- statement charges_find_by_reference
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND reference = $2;

-- statement charges_find_by_transaction_reference
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND transaction_reference = $2;

-- statement charges_find_current
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND intent_id = $2
           ORDER BY (status = 'pending' AND abandoned_at IS NULL) DESC, attempt DESC LIMIT 1;

-- statement charges_find_telling
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND intent_id = $2
           ORDER BY status <> 'completed', paid_at NULLS LAST, (status = 'pending' AND abandoned_at IS NULL) DESC, attempt DESC LIMIT 1;

-- statement charges_has_refund
SELECT refunds.id FROM refunds
           JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
           WHERE refunds.merchant_id = $1 AND refunds.charge_id = $2 AND transfers.status IN ('pending', 'completed')
           LIMIT 1;

-- statement charges_insert
INSERT INTO charges (merchant_id, id, intent_id, attempt, status, amount, fee, fee_payer, amount_paid,
             currency, network, account_number, account_canonical, reference, transaction_reference, progress, late,
             amount_refunded, event_sequence, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $20);

-- statement charges_list_all
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 
           ORDER BY charges.id DESC LIMIT $2 OFFSET $3;

-- statement charges_list_before
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.id < $2
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_customer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $2)
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_from
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at >= $2
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_from_to
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at >= $2 AND charges.created_at <= $3
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_link
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $2)
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_link_sub_account
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $2) AND charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = $3)
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_of_intent
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE merchant_id = $1 AND intent_id = $2 ORDER BY attempt;

-- statement charges_list_refund_ids
SELECT id FROM refunds WHERE merchant_id = $1 AND charge_id = $2;

-- statement charges_list_status
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_status_customer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $3)
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_status_customer_term_or_payer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND customer_id = $3) AND ((charges.account_number ILIKE ANY ($4::text[]) OR charges.account_canonical ILIKE ANY ($4::text[]) OR charges.reference ILIKE ANY ($4::text[]) OR charges.transaction_reference ILIKE ANY ($4::text[]) OR charges.network_reference ILIKE ANY ($4::text[]) OR charges.network_transaction_id ILIKE ANY ($4::text[]) OR charges.id::text ILIKE ANY ($4::text[]) OR charges.intent_id::text ILIKE ANY ($4::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $5 OR customer_email ILIKE $5 OR customer_phone ILIKE $5 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($6::text[]))
    ))
           ORDER BY charges.id DESC LIMIT $7 OFFSET $8;

-- statement charges_list_status_link
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $3)
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_status_term_or_payer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND ((charges.account_number ILIKE ANY ($3::text[]) OR charges.account_canonical ILIKE ANY ($3::text[]) OR charges.reference ILIKE ANY ($3::text[]) OR charges.transaction_reference ILIKE ANY ($3::text[]) OR charges.network_reference ILIKE ANY ($3::text[]) OR charges.network_transaction_id ILIKE ANY ($3::text[]) OR charges.id::text ILIKE ANY ($3::text[]) OR charges.intent_id::text ILIKE ANY ($3::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $4 OR customer_email ILIKE $4 OR customer_phone ILIKE $4 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($5::text[]))
    ))
           ORDER BY charges.id DESC LIMIT $6 OFFSET $7;

-- statement charges_list_status_terminal
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.status = $2 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $3)
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_sub_account
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT intent_id FROM intent_shares WHERE merchant_id = $1 AND sub_account_id = $2)
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_term_or_payer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND ((charges.account_number ILIKE ANY ($2::text[]) OR charges.account_canonical ILIKE ANY ($2::text[]) OR charges.reference ILIKE ANY ($2::text[]) OR charges.transaction_reference ILIKE ANY ($2::text[]) OR charges.network_reference ILIKE ANY ($2::text[]) OR charges.network_transaction_id ILIKE ANY ($2::text[]) OR charges.id::text ILIKE ANY ($2::text[]) OR charges.intent_id::text ILIKE ANY ($2::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $3 OR customer_email ILIKE $3 OR customer_phone ILIKE $3 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($4::text[]))
    ))
           ORDER BY charges.id DESC LIMIT $5 OFFSET $6;

-- statement charges_list_terminal
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2)
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_list_terminal_link
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2) AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND payment_link_id = $3)
           ORDER BY charges.id DESC LIMIT $4 OFFSET $5;

-- statement charges_list_terminal_term_or_payer
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.intent_id IN (SELECT id FROM payment_intents WHERE merchant_id = $1 AND terminal_id = $2) AND ((charges.account_number ILIKE ANY ($3::text[]) OR charges.account_canonical ILIKE ANY ($3::text[]) OR charges.reference ILIKE ANY ($3::text[]) OR charges.transaction_reference ILIKE ANY ($3::text[]) OR charges.network_reference ILIKE ANY ($3::text[]) OR charges.network_transaction_id ILIKE ANY ($3::text[]) OR charges.id::text ILIKE ANY ($3::text[]) OR charges.intent_id::text ILIKE ANY ($3::text[])) OR EXISTS (
      SELECT 1 FROM payment_intents WHERE merchant_id = $1 AND id = charges.intent_id AND (customer_name ILIKE $4 OR customer_email ILIKE $4 OR customer_phone ILIKE $4 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($5::text[]))
    ))
           ORDER BY charges.id DESC LIMIT $6 OFFSET $7;

-- statement charges_list_to
SELECT charges.merchant_id AS "merchantId", charges.id, intent_id AS "intentId", attempt,
  charges.status, charges.amount AS "amountMinor", charges.fee AS "feeMinor", charges.fee_payer AS "feePayer",
  amount_paid AS "amountPaidMinor", amount_received AS "amountReceivedMinor", charges.currency, network, account_number AS "accountNumber",
  account_canonical AS "accountCanonical", reference, transaction_reference AS "transactionReference",
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  network_handles AS "networkHandles", next_action AS "nextAction", progress, abandoned_at AS "abandonedAt", failure_code AS "failureCode",
  failure_reason AS "failureReason", charges.review, charges.late, amount_refunded AS "amountRefundedMinor",
  charges.event_sequence AS "eventSequence", paid_at AS "paidAt", settles_at AS "settlesAt", settled_at AS "settledAt",
  amount_reversed AS "amountReversedMinor", reserve_percent_hundredths AS "reservePercentHundredths",
  debt_repaid AS "debtRepaidMinor", charges.created_at AS "createdAt",
  charges.updated_at AS "updatedAt" FROM charges WHERE charges.merchant_id = $1 AND charges.created_at <= $2
           ORDER BY charges.id DESC LIMIT $3 OFFSET $4;

-- statement charges_update_abandoned
UPDATE charges SET abandoned_at = $3, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND status = 'pending'
             AND (abandoned_at IS NULL) <> ($3::timestamptz IS NULL);

-- statement charges_update_outcome
UPDATE charges
           SET status = $4, progress = $5, next_action = $6, network_reference = $7, network_transaction_id = $8,
               failure_code = $9, failure_reason = $10, review = $11, late = $12, event_sequence = $13, paid_at = $14,
               updated_at = $15, amount_received = $16, settles_at = $17,
               amount_refunded = $18, account_number = $19, account_canonical = $20, amount_reversed = $21,
               reserve_percent_hundredths = $22, debt_repaid = $23, settled_at = $24
           WHERE merchant_id = $1 AND id = $2 AND status = $3;

-- statement charges_update_progress
UPDATE charges
           SET progress = $4, next_action = $5, network_reference = COALESCE($6, network_reference),
               network_handles = COALESCE($7, network_handles), updated_at = $8
           WHERE merchant_id = $1 AND id = $2 AND status = 'pending' AND progress = ANY ($3::text[]);

-- statement circuit_breakers_delete_forgotten
DELETE FROM circuit_breakers WHERE updated_at < $1 AND (retry_at IS NULL OR retry_at < $1);

-- statement circuit_breakers_find
SELECT network, test_mode AS "testMode", rail_account AS "railAccount", scope, state, reason,
                  opened_at AS "openedAt", retry_at AS "retryAt", failed_trials AS "failedTrials",
                  failures_in_a_row AS "failuresInARow", failed_merchants AS "failedMerchants", version FROM circuit_breakers
           WHERE network = $1 AND test_mode = $2 AND rail_account = $3 AND scope = $4;

-- statement circuit_breakers_insert_once
INSERT INTO circuit_breakers (network, test_mode, rail_account, scope, state, reason, opened_at, retry_at,
             failed_trials, failures_in_a_row, failed_merchants, version, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 + 1, $13)
           ON CONFLICT (network, test_mode, rail_account, scope) DO NOTHING;

-- statement circuit_breakers_list
SELECT network, test_mode AS "testMode", rail_account AS "railAccount", scope, state, reason,
                  opened_at AS "openedAt", retry_at AS "retryAt", failed_trials AS "failedTrials",
                  failures_in_a_row AS "failuresInARow", failed_merchants AS "failedMerchants", version FROM circuit_breakers
           WHERE state <> 'closed' OR failures_in_a_row > 0
           ORDER BY test_mode, scope <> '', updated_at DESC LIMIT $1;

-- statement circuit_breakers_update
UPDATE circuit_breakers SET state = $5, reason = $6, opened_at = $7, retry_at = $8, failed_trials = $9,
             failures_in_a_row = $10, failed_merchants = $11, version = $12 + 1, updated_at = $13
           WHERE network = $1 AND test_mode = $2 AND rail_account = $3 AND scope = $4 AND version = $12;

-- statement customer_identities_delete
DELETE FROM customer_identities WHERE merchant_id = $1 AND customer_id = $2;

-- statement customer_identities_insert_1
INSERT INTO customer_identities (merchant_id, customer_id, identity)
           VALUES ($1, $2, $3);

-- statement customer_locks_take_1
INSERT INTO customer_locks (merchant_id, bucket)
           VALUES ($1, $2)
           ON CONFLICT (merchant_id, bucket) DO UPDATE SET bucket = excluded.bucket;

-- statement customers_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL   LIMIT $2
           ) AS counted;

-- statement customers_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE $2 OR email ILIKE $2 OR phone ILIKE $2 OR id::text ILIKE $2 OR id IN (
        SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity LIKE ANY ($3::text[])
      ))  LIMIT $4
           ) AS counted;

-- statement customers_find
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement customers_find_by_identity
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers
           WHERE merchant_id = $1 AND deleted_at IS NULL AND id IN (
             SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity = ANY ($2::text[])
           )
           ORDER BY id LIMIT 1;

-- statement customers_forget
UPDATE customers
           SET name = NULL, email = NULL, phone = NULL, metadata = '{}', event_sequence = $3, updated_at = $4,
               deleted_at = $4
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement customers_insert
INSERT INTO customers (merchant_id, id, name, email, phone, metadata, event_sequence, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- statement customers_list_all
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement customers_list_before
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement customers_list_term
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE $2 OR email ILIKE $2 OR phone ILIKE $2 OR id::text ILIKE $2 OR id IN (
        SELECT customer_id FROM customer_identities WHERE merchant_id = $1 AND identity LIKE ANY ($3::text[])
      ))
           ORDER BY id DESC LIMIT $4 OFFSET $5;

-- statement customers_lock_for_change
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement customers_lock_for_deletion
SELECT merchant_id AS "merchantId", id, name, email, phone, metadata, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt" FROM customers
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE;

-- statement customers_lock_for_payment
SELECT id, name, email, phone FROM customers
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE;

-- statement customers_update
UPDATE customers
           SET name = $3, email = $4, phone = $5, metadata = $6, event_sequence = $7, updated_at = $8
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement database.acquireAdvisoryLock
SELECT pg_advisory_xact_lock($1);

-- statement database.findMigrations
SELECT to_regclass('schema_migrations')::text AS "table";

-- statement database.readLedgerTables
SELECT c.relname AS relation, pg_has_role(c.relowner, 'MEMBER') AS owned,
                  (has_any_column_privilege(c.oid, 'UPDATE') OR has_table_privilege(c.oid, 'DELETE')
                    OR has_table_privilege(c.oid, 'TRUNCATE')) AS rewritable
             FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'ledger\_%'
              AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema';

-- statement database.readRole
SELECT current_user AS role, r.rolsuper AS is_superuser,
                  current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
                  current_setting('synchronous_commit') AS synchronous_commit
             FROM pg_roles r WHERE r.rolname = current_user;

-- statement database.readSchemaVersion
SELECT max(number) AS newest FROM schema_migrations;

-- statement default_fee_rules_delete
DELETE FROM default_fee_rules WHERE operation = $1 AND network = $2;

-- statement default_fee_rules_upsert
INSERT INTO default_fee_rules (operation, network, percent_hundredths, fixed, minimum, maximum) VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (operation, network) DO UPDATE SET percent_hundredths = excluded.percent_hundredths, fixed = excluded.fixed,
             minimum = excluded.minimum, maximum = excluded.maximum;

-- statement default_reserve_rules_delete
DELETE FROM default_reserve_rules;

-- statement default_reserve_rules_find
SELECT percent_hundredths AS "percentHundredths", hours, new_for_days AS "newForDays"
           FROM default_reserve_rules WHERE kind = 'reserve';

-- statement default_reserve_rules_upsert
INSERT INTO default_reserve_rules (kind, percent_hundredths, hours, new_for_days) VALUES ('reserve', $1, $2, $3)
           ON CONFLICT (kind) DO UPDATE SET percent_hundredths = excluded.percent_hundredths, hours = excluded.hours,
             new_for_days = excluded.new_for_days;

-- statement default_rules_find
SELECT (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM default_fee_rules) AS default_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM default_transfer_limits) AS default_limits;

-- statement default_transfer_limits_delete
DELETE FROM default_transfer_limits WHERE kind = $1;

-- statement default_transfer_limits_upsert
INSERT INTO default_transfer_limits (kind, amount) VALUES ($1, $2)
           ON CONFLICT (kind) DO UPDATE SET amount = excluded.amount;

-- statement events_insert
INSERT INTO events (merchant_id, id, kind, object_id, sequence, record, callback_url, request_id,
             created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- statement events_list_of_objects
SELECT merchant_id AS "merchantId", id, kind, object_id AS "objectId", sequence, record,
                  callback_url AS "callbackUrl", request_id AS "requestId", created_at AS "createdAt"
           FROM events WHERE merchant_id = $1 AND object_id = ANY ($2::uuid[]) ORDER BY id LIMIT 500;

-- statement fee_rules_delete
DELETE FROM fee_rules WHERE merchant_id = $1 AND operation = $2 AND network = $3;

-- statement fee_rules_upsert
INSERT INTO fee_rules (merchant_id, operation, network, percent_hundredths, fixed, minimum, maximum) VALUES ($1, $2, $3, $4, $5, $6, $7)
           ON CONFLICT (merchant_id, operation, network) DO UPDATE SET percent_hundredths = excluded.percent_hundredths, fixed = excluded.fixed,
             minimum = excluded.minimum, maximum = excluded.maximum;

-- statement idempotency_keys_count_by_seal_key
-- across merchants: one seal key is everybody's
           SELECT encode(substring(response from 2 for 4), 'hex') AS "keyId", count(*) AS count FROM idempotency_keys
           WHERE response IS NOT NULL GROUP BY 1;

-- statement idempotency_keys_delete_before
-- across merchants: what goes is everybody's
           DELETE FROM idempotency_keys WHERE subject_id IS NULL AND ctid = ANY (ARRAY(
             SELECT ctid FROM idempotency_keys
             WHERE created_at < $1 AND subject_id IS NULL AND NOT is_forgotten
             ORDER BY created_at LIMIT 500
           ));

-- statement idempotency_keys_find
SELECT fingerprint, status_code AS "statusCode", response, subject_id AS "subjectId" FROM idempotency_keys
           WHERE merchant_id = $1 AND path = $2 AND key = $3;

-- statement idempotency_keys_forget_responses
-- across merchants: what goes is everybody's
           UPDATE idempotency_keys SET response = NULL, is_forgotten = true WHERE NOT is_forgotten AND ctid = ANY (ARRAY(
             SELECT ctid FROM idempotency_keys
             WHERE created_at < $1 AND subject_id IS NOT NULL AND NOT is_forgotten
             ORDER BY created_at LIMIT 500
           ));

-- statement idempotency_keys_insert_once
INSERT INTO idempotency_keys (merchant_id, path, key, fingerprint, created_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (merchant_id, path, key) DO NOTHING;

-- statement idempotency_keys_replace_response
UPDATE idempotency_keys SET response = $5
           WHERE merchant_id = $1 AND path = $2 AND key = $3 AND response = $4;

-- statement idempotency_keys_under_other_seal_keys
-- across merchants: one seal key is everybody's
           SELECT merchant_id AS "merchantId", path, key, response FROM idempotency_keys
           WHERE response IS NOT NULL AND encode(substring(response from 2 for 4), 'hex') <> $1
             AND ($2::uuid IS NULL OR (merchant_id, path, key) > ($2, $3::text, $4::text))
           ORDER BY merchant_id, path, key LIMIT $5;

-- statement idempotency_keys_update_response
UPDATE idempotency_keys SET status_code = $4, response = $5, subject_id = $6
           WHERE merchant_id = $1 AND path = $2 AND key = $3;

-- statement installation_secrets_count_by_key
SELECT encode(substring(sealed from 2 for 4), 'hex') AS "keyId", count(*) AS count FROM installation_secrets GROUP BY 1;

-- statement installation_secrets_delete
DELETE FROM installation_secrets WHERE name = $1;

-- statement installation_secrets_insert_once
INSERT INTO installation_secrets (name, sealed, created_at) VALUES ($1, $2, $3)
           ON CONFLICT (name) DO NOTHING;

-- statement installation_secrets_list
SELECT name, sealed FROM installation_secrets ORDER BY name;

-- statement installation_secrets_replace
UPDATE installation_secrets SET sealed = $3 WHERE name = $1 AND sealed = $2;

-- statement installation_secrets_under_other_keys
SELECT name, sealed FROM installation_secrets
           WHERE encode(substring(sealed from 2 for 4), 'hex') <> $1 AND ($2::text IS NULL OR name > $2) ORDER BY name LIMIT $3;

-- statement intent_shares_insert_1
INSERT INTO intent_shares (merchant_id, intent_id, position, sub_account_id, percent_hundredths, amount)
           VALUES ($1, $2, $3, $4, $5, $6);

-- statement key_checks_delete
DELETE FROM key_checks WHERE setting = $1 AND check_value = $2;

-- statement key_checks_delete_all
DELETE FROM key_checks WHERE setting = $1;

-- statement key_checks_insert_once
INSERT INTO key_checks (setting, check_value, key_id, created_at) VALUES ($1, $2, $3, $4)
           ON CONFLICT (setting, check_value) DO NOTHING;

-- statement key_checks_list
SELECT setting, encode(key_id, 'hex') AS "keyId", check_value AS value, lost_at AS "lostAt" FROM key_checks
           ORDER BY created_at, check_value;

-- statement key_checks_mark_lost
UPDATE key_checks SET lost_at = $3 WHERE setting = $1 AND check_value = $2 AND lost_at IS NULL;

-- statement key_checks_restore
UPDATE key_checks SET lost_at = NULL WHERE setting = $1 AND check_value = $2 AND lost_at IS NOT NULL;

-- statement key_limits_find
SELECT arrival_us AS "arrivalUs" FROM key_limits WHERE merchant_id = $1 AND key_id = $2;

-- statement key_limits_take
INSERT INTO key_limits (merchant_id, key_id, arrival_us)
           VALUES ($1, $2, $3::bigint + $4::bigint)
          ON CONFLICT (merchant_id, key_id) DO UPDATE
          SET arrival_us = CASE WHEN key_limits.arrival_us > $6::bigint THEN $3::bigint ELSE GREATEST(key_limits.arrival_us, $3::bigint) END + $4::bigint
          WHERE key_limits.arrival_us > $6::bigint OR GREATEST(key_limits.arrival_us, $3::bigint) + $4::bigint - $3::bigint <= $5::bigint
          RETURNING arrival_us AS "arrivalUs";

-- statement ledger_accounts_ensure
INSERT INTO ledger_accounts (merchant_id, account, currency, kind, balance) VALUES ($1, $2, $3, $4, 0)
           ON CONFLICT (merchant_id, account, currency) DO NOTHING;

-- statement ledger_accounts_lock
SELECT balance FROM ledger_accounts
           WHERE merchant_id = $1 AND account = $2 AND currency = $3 FOR UPDATE;

-- statement ledger_accounts_owed
-- across merchants: the operator watches all debts
           WITH parts AS (
             SELECT merchant_id, account, currency, balance AS amount FROM ledger_accounts
             WHERE kind IN ('receivable_merchant', 'sub_owed') AND kind = ANY ($1::text[])
             UNION ALL
             SELECT merchant_id, account, currency, amount FROM ledger_deltas
             WHERE split_part(account, ':', 1) = ANY ($1::text[])
           ), owed AS (
             SELECT merchant_id, account, currency, sum(amount)::bigint AS amount FROM parts
             GROUP BY 1, 2, 3 HAVING sum(amount) > 0
           ), grown AS (
             SELECT owed.merchant_id, owed.account, owed.currency, owed.amount, movement.created_at,
                    sum(movement.amount) OVER (PARTITION BY owed.merchant_id, owed.account, owed.currency
                                               ORDER BY movement.id DESC) AS newer
             FROM owed CROSS JOIN LATERAL (
               SELECT id, created_at, amount FROM ledger_movements
               WHERE merchant_id = owed.merchant_id AND debit_account = owed.account AND currency = owed.currency
                 AND debit_account = 'receivable_merchant'
               UNION ALL
               SELECT id, created_at, amount FROM ledger_movements
               WHERE merchant_id = owed.merchant_id AND debit_account = owed.account AND currency = owed.currency
                 AND debit_account LIKE 'sub_owed:%'
             ) AS movement
           )
           SELECT merchant_id AS "merchantId", account, currency, amount AS "amountMinor",
                  max(created_at) FILTER (WHERE newer >= amount) AS since
           FROM grown GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3;

-- statement ledger_accounts_to_fold
-- across merchants: the worker folds everybody's
           SELECT merchant_id AS "merchantId", account, currency FROM ledger_deltas
           GROUP BY merchant_id, account, currency HAVING count(*) > $1 LIMIT $2;

-- statement ledger_accounts_try_lock_above_zero
SELECT balance FROM ledger_accounts
           WHERE merchant_id = $1 AND account = $2 AND currency = $3 AND balance > 0 FOR UPDATE SKIP LOCKED;

-- statement ledger_accounts_update_balance
UPDATE ledger_accounts SET balance = balance + $4
           WHERE merchant_id = $1 AND account = $2 AND currency = $3;

-- statement ledger_balances
SELECT account, sum(amount)::text AS balance FROM (
             SELECT account, balance AS amount FROM ledger_accounts
             WHERE merchant_id = $1 AND currency = $2 AND account = ANY ($3::text[])
             UNION ALL
             SELECT account, amount FROM ledger_deltas
             WHERE merchant_id = $1 AND currency = $2 AND account = ANY ($3::text[])
           ) AS parts GROUP BY account;

-- statement ledger_deltas_delete
WITH folded AS (
             DELETE FROM ledger_deltas WHERE merchant_id = $1 AND account = $2 AND currency = $3 RETURNING amount
           )
           SELECT sum(amount)::text AS sum FROM folded;

-- statement ledger_deltas_insert_1
INSERT INTO ledger_deltas (merchant_id, account, currency, id, amount)
           VALUES ($1, $2, $3, $4, $5);

-- statement ledger_holds_close
UPDATE ledger_holds SET status = $4, closed_at = $5
           WHERE merchant_id = $1 AND source_type = $2 AND source_id = $3 AND status = 'open'
           RETURNING amount AS "amountMinor";

-- statement ledger_holds_insert
INSERT INTO ledger_holds (merchant_id, id, status, amount, currency, source_type, source_id, created_at)
           VALUES ($1, $2, 'open', $3, $4, $5, $6, $7);

-- statement ledger_movements_behind_any
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND (debit_account = $2 OR credit_account = $2)
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", CASE WHEN credit_account = $2 THEN amount ELSE -amount END AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND (debit_account = $2 OR credit_account = $2)
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_behind_available
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND (debit_account = 'payable_available' OR credit_account = 'payable_available')
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", CASE WHEN credit_account = $2 THEN amount ELSE -amount END AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND (debit_account = 'payable_available' OR credit_account = 'payable_available')
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_behind_pending
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ((debit_account = $2 AND debit_account = 'payable_pending') OR (credit_account = $2 AND credit_account = 'payable_pending'))
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM ((
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND credit_account = $2 AND credit_account = 'payable_pending'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) UNION ALL (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", -amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND debit_account = $2 AND debit_account = 'payable_pending'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7)) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_behind_receivable
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ((debit_account = $2 AND debit_account = 'receivable_merchant') OR (credit_account = $2 AND credit_account = 'receivable_merchant'))
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM ((
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND credit_account = $2 AND credit_account = 'receivable_merchant'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) UNION ALL (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", -amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND debit_account = $2 AND debit_account = 'receivable_merchant'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7)) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_behind_sub
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ((debit_account = $2 AND debit_account LIKE 'sub:%') OR (credit_account = $2 AND credit_account LIKE 'sub:%'))
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM ((
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND credit_account = $2 AND credit_account LIKE 'sub:%'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) UNION ALL (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", -amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND debit_account = $2 AND debit_account LIKE 'sub:%'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7)) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_behind_sub_owed
WITH stored AS (
             SELECT COALESCE((SELECT balance FROM ledger_accounts
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0)
                  + COALESCE((SELECT sum(amount) FROM ledger_deltas
                              WHERE merchant_id = $1 AND account = $2 AND currency = $3), 0) AS balance
           ), later AS (
             SELECT COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END), 0) AS credited,
                    COALESCE(sum(CASE WHEN credit_account = $2 THEN amount ELSE -amount END) FILTER (WHERE created_at > $4), 0) AS after_at
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND ((debit_account = $2 AND debit_account LIKE 'sub_owed:%') OR (credit_account = $2 AND credit_account LIKE 'sub_owed:%'))
               AND id BETWEEN $6 AND 'ffffffff-ffff-ffff-ffff-ffffffffffff' AND (created_at > $4 OR id >= $5)
           ), page AS (
             SELECT * FROM (SELECT * FROM ((
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND credit_account = $2 AND credit_account LIKE 'sub_owed:%'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7) UNION ALL (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", -amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $3 AND debit_account = $2 AND debit_account LIKE 'sub_owed:%'
               AND ($4::timestamptz IS NULL OR created_at <= $4) AND id < $5
             ORDER BY ledger_movements.id DESC LIMIT $7)) AS lines ORDER BY id DESC LIMIT $7) AS newest
             LIMIT 1024
           )
           SELECT stored.balance::text AS stored, later.credited::text AS "creditedLater",
                  later.after_at::text AS "creditedAfter", page.*
           FROM stored CROSS JOIN later LEFT JOIN page ON true ORDER BY page.id DESC;

-- statement ledger_movements_credits_behind_payable_available
WITH newest AS (
             SELECT source_type, source_id, id FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND credit_account = 'payable_available'
             ORDER BY id DESC LIMIT $3
           ), sources AS (
             SELECT source_type, source_id, max(id::text) AS last_id FROM newest GROUP BY 1, 2
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", GREATEST(booked.amount, 0) AS "leftMinor"
           FROM sources CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN credit_account = 'payable_available' THEN amount ELSE -amount END)::bigint AS amount
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = sources.source_id
               AND source_type = sources.source_type AND 'payable_available' IN (credit_account, debit_account)
           ) AS booked
           ORDER BY booked.amount > 0 DESC, last_id DESC LIMIT $4;

-- statement ledger_movements_held_from
SELECT debit_account AS account, amount AS "amountMinor" FROM ledger_movements
           WHERE merchant_id = $1 AND source_type = $2 AND source_id = $3 AND flow = 'held'
           ORDER BY id;

-- statement ledger_movements_insert_1
INSERT INTO ledger_movements (merchant_id, id, debit_account, credit_account, amount, currency, flow,
             source_type, source_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10);

-- statement ledger_movements_of_source
SELECT flow, debit_account AS debit, credit_account AS credit, amount AS "amountMinor" FROM ledger_movements
           WHERE merchant_id = $1 AND source_type = $2 AND source_id = $3
           ORDER BY id;

-- statement ledger_movements_owing_sources_receivable_merchant
WITH sources AS (
             SELECT source_type, source_id, max(id::text) AS last_id FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND debit_account = 'receivable_merchant' AND flow NOT IN ('debt_repaid', 'debt_recovered', 'repayment_returned') GROUP BY 1, 2
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", booked.amount AS "leftMinor"
           FROM sources CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN debit_account = 'receivable_merchant' THEN amount ELSE -amount END)::bigint AS amount
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = sources.source_id
               AND source_type = sources.source_type AND $3 IN (debit_account, credit_account) AND flow NOT IN ('debt_repaid', 'debt_recovered', 'repayment_returned')
           ) AS booked
           WHERE booked.amount > 0 ORDER BY last_id DESC LIMIT $4;

-- statement ledger_movements_owing_sources_sub_owed
WITH sources AS (
             SELECT source_type, source_id, max(id::text) AS last_id FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND debit_account = $3 AND debit_account LIKE 'sub_owed:%' AND flow IN ('advanced', 'reversed', 'advance_undone', 'debt_waived') GROUP BY 1, 2
           )
           SELECT source_type AS "sourceType", source_id AS "sourceId", booked.amount AS "leftMinor"
           FROM sources CROSS JOIN LATERAL (
             SELECT sum(CASE WHEN debit_account = $3 THEN amount ELSE -amount END)::bigint AS amount
             FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = sources.source_id
               AND source_type = sources.source_type AND $3 IN (debit_account, credit_account) AND flow IN ('advanced', 'reversed', 'advance_undone', 'debt_waived')
           ) AS booked
           WHERE booked.amount > 0 ORDER BY last_id DESC LIMIT $4;

-- statement ledger_movements_statement
WITH sides AS (
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", amount AS credited FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND credit_account = ANY ($3::text[])
               AND credit_account LIKE 'sub:%' AND NOT debit_account = ANY ($3::text[])
             UNION ALL
             SELECT id, created_at AS at, flow, source_type AS "sourceType", source_id AS "sourceId", -amount FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND debit_account = ANY ($3::text[])
               AND debit_account LIKE 'sub:%' AND NOT credit_account = ANY ($3::text[])
           ), lines AS (
             SELECT sides.*, sum(credited) OVER (ORDER BY at, id)::text AS balance FROM sides
             WHERE $5::timestamptz IS NULL OR at <= $5
           ), totals AS (
             SELECT COALESCE(sum(credited) FILTER (WHERE at < $4), 0)::text AS opening,
                    COALESCE(sum(credited), 0)::text AS closing
             FROM lines
           ), page AS (
             SELECT * FROM lines
             WHERE ($4::timestamptz IS NULL OR at >= $4)
               AND ($6::uuid IS NULL OR (at, id) > (SELECT sides.at, sides.id FROM sides WHERE sides.id = $6))
             ORDER BY at, id LIMIT $7
           )
           SELECT totals.opening, totals.closing, page.* FROM totals LEFT JOIN page ON true ORDER BY page.at, page.id;

-- statement ledger_movements_sum_by_sources
WITH sides AS (
             SELECT credit_account AS account, amount FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
             UNION ALL
             SELECT debit_account, -amount FROM ledger_movements
             WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
           )
           SELECT account, sum(amount)::text AS "netEffect" FROM sides GROUP BY account HAVING sum(amount) <> 0;

-- statement ledger_movements_sum_repaid_by_sources
SELECT COALESCE(sum(CASE WHEN credit_account = 'receivable_merchant' THEN amount ELSE -amount END), 0)::text AS sum
           FROM ledger_movements
           WHERE merchant_id = $1 AND currency = $2 AND source_id = ANY ($3::uuid[])
             AND flow IN ('debt_repaid', 'debt_reopened', 'debt_undone')
             AND 'receivable_merchant' IN (debit_account, credit_account);

-- statement ledger_sum_suspense
-- across merchants: the operator watches all of them
           SELECT currency, sum(amount)::bigint AS "amountMinor" FROM (
             SELECT currency, balance AS amount FROM ledger_accounts WHERE account = 'suspense'
             UNION ALL
             SELECT currency, amount FROM ledger_deltas WHERE account = 'suspense'
           ) AS parts GROUP BY currency;

-- statement ledger_verify
-- across merchants: the verification reads the whole ledger
      WITH sides AS (
        SELECT merchant_id, debit_account AS account, currency, sum(amount) AS debits, 0 AS credits, count(*) AS rows
        FROM ledger_movements GROUP BY 1, 2, 3
        UNION ALL
        SELECT merchant_id, credit_account, currency, 0, sum(amount), count(*)
        FROM ledger_movements GROUP BY 1, 2, 3
      ), moved AS (
        SELECT merchant_id, account, currency, sum(rows) AS rows,
               sum(CASE WHEN split_part(account, ':', 1) = ANY ($1::text[]) THEN debits - credits
                        ELSE credits - debits END) AS amount
        FROM sides GROUP BY 1, 2, 3
      ), stored AS (
        SELECT merchant_id, account, currency, sum(amount) AS amount
        FROM (SELECT merchant_id, account, currency, balance AS amount FROM ledger_accounts
              UNION ALL
              SELECT merchant_id, account, currency, amount FROM ledger_deltas) AS parts
        GROUP BY 1, 2, 3
      ), open AS (
        SELECT merchant_id, 'held' AS account, currency, sum(amount) AS amount
        FROM ledger_holds WHERE status = 'open' GROUP BY 1, 3
      )
      SELECT merchant_id AS "merchantId", account, currency, split_part(account, ':', 1) AS kind,
             COALESCE(stored.amount, 0)::text AS stored, COALESCE(moved.amount, 0)::text AS moved,
             COALESCE(open.amount, 0)::text AS open, COALESCE(moved.rows, 0)::text AS movements
      FROM moved FULL JOIN stored USING (merchant_id, account, currency)
                 FULL JOIN open USING (merchant_id, account, currency)
      ORDER BY merchant_id, account, currency;

-- statement merchant_logos_delete
DELETE FROM merchant_logos WHERE merchant_id = $1;

-- statement merchant_logos_find
SELECT png FROM merchant_logos WHERE merchant_id = $1;

-- statement merchant_logos_upsert
INSERT INTO merchant_logos (merchant_id, png, updated_at) VALUES ($1, $2, $3)
           ON CONFLICT (merchant_id) DO UPDATE SET png = excluded.png, updated_at = excluded.updated_at;

-- statement merchants_find_by_id
SELECT id, business_id, short_id, name, test_mode, currency, fee_payer, created_at, rate_limit_per_second AS "rateLimitPerSecond",
  rate_limit_key_percent AS "rateLimitKeyPercent", rate_limit_pages AS "rateLimitPages", page_colour AS "pageColour", contact_phone AS "contactPhone",
  contact_whatsapp AS "contactWhatsapp", contact_email AS "contactEmail",
  (SELECT updated_at FROM merchant_logos WHERE merchant_logos.merchant_id = merchants.id) AS "logoSetAt", (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM fee_rules WHERE fee_rules.merchant_id = merchants.id) AS own_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM transfer_limits WHERE transfer_limits.merchant_id = merchants.id) AS own_limits, (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM default_fee_rules) AS default_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM default_transfer_limits) AS default_limits, (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM reserve_rules
    WHERE reserve_rules.merchant_id = merchants.id) AS own_reserve,
  (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM default_reserve_rules) AS default_reserve FROM merchants WHERE id = $1;

-- statement merchants_find_by_short_id
SELECT id, business_id, short_id, name, test_mode, currency, fee_payer, created_at, rate_limit_per_second AS "rateLimitPerSecond",
  rate_limit_key_percent AS "rateLimitKeyPercent", rate_limit_pages AS "rateLimitPages", page_colour AS "pageColour", contact_phone AS "contactPhone",
  contact_whatsapp AS "contactWhatsapp", contact_email AS "contactEmail",
  (SELECT updated_at FROM merchant_logos WHERE merchant_logos.merchant_id = merchants.id) AS "logoSetAt", (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM fee_rules WHERE fee_rules.merchant_id = merchants.id) AS own_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM transfer_limits WHERE transfer_limits.merchant_id = merchants.id) AS own_limits, (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM default_fee_rules) AS default_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM default_transfer_limits) AS default_limits, (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM reserve_rules
    WHERE reserve_rules.merchant_id = merchants.id) AS own_reserve,
  (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM default_reserve_rules) AS default_reserve FROM merchants WHERE short_id = $1;

-- statement merchants_find_reserves
SELECT (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM reserve_rules
    WHERE reserve_rules.merchant_id = merchants.id) AS own_reserve,
  (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM default_reserve_rules) AS default_reserve FROM merchants WHERE id = $1;

-- statement merchants_find_rules
SELECT (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM fee_rules WHERE fee_rules.merchant_id = merchants.id) AS own_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM transfer_limits WHERE transfer_limits.merchant_id = merchants.id) AS own_limits, (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM default_fee_rules) AS default_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM default_transfer_limits) AS default_limits FROM merchants WHERE id = $1;

-- statement merchants_find_sub_account_payouts
SELECT sub_account_payouts AS schedule FROM merchants WHERE id = $1;

-- statement merchants_insert
INSERT INTO merchants (id, business_id, short_id, name, test_mode, currency, fee_payer, created_at, rate_limit_per_second)
           VALUES ($1, $2, $3, $4, $5, $6, 'business', $7, $8);

-- statement merchants_list
-- across merchants: the operator's list of all
           SELECT id, business_id, short_id, name, test_mode, currency, fee_payer, created_at, rate_limit_per_second AS "rateLimitPerSecond",
  rate_limit_key_percent AS "rateLimitKeyPercent", rate_limit_pages AS "rateLimitPages", page_colour AS "pageColour", contact_phone AS "contactPhone",
  contact_whatsapp AS "contactWhatsapp", contact_email AS "contactEmail",
  (SELECT updated_at FROM merchant_logos WHERE merchant_logos.merchant_id = merchants.id) AS "logoSetAt", (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM fee_rules WHERE fee_rules.merchant_id = merchants.id) AS own_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM transfer_limits WHERE transfer_limits.merchant_id = merchants.id) AS own_limits, (SELECT json_agg(json_build_object('operation', operation, 'network', network,
  'percent', percent_hundredths::text, 'fixed', fixed::text, 'minimum', minimum::text, 'maximum', maximum::text)
  ORDER BY operation, network) FROM default_fee_rules) AS default_fees,
  (SELECT json_agg(json_build_object('kind', kind, 'amount', amount::text) ORDER BY kind DESC) FROM default_transfer_limits) AS default_limits, (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM reserve_rules
    WHERE reserve_rules.merchant_id = merchants.id) AS own_reserve,
  (SELECT json_build_object('percent', percent_hundredths::text, 'hours', hours::text,
  'days', new_for_days::text) FROM default_reserve_rules) AS default_reserve FROM merchants ORDER BY created_at, id;

-- statement merchants_update_appearance
UPDATE merchants
           SET page_colour = CASE WHEN $2 THEN $3 ELSE page_colour END,
               contact_phone = CASE WHEN $4 THEN $5 ELSE contact_phone END,
               contact_whatsapp = CASE WHEN $6 THEN $7 ELSE contact_whatsapp END,
               contact_email = CASE WHEN $8 THEN $9 ELSE contact_email END
           WHERE id = $1;

-- statement merchants_update_fee_payer
UPDATE merchants SET fee_payer = $2 WHERE id = $1;

-- statement merchants_update_rate_limits
UPDATE merchants
           SET rate_limit_per_second = CASE WHEN $2 THEN $3::bigint ELSE rate_limit_per_second END,
               rate_limit_key_percent = CASE WHEN $4 THEN $5::bigint ELSE rate_limit_key_percent END,
               rate_limit_pages = CASE WHEN $6 THEN $7::bigint ELSE rate_limit_pages END
           WHERE id = $1;

-- statement merchants_update_sub_account_payouts
UPDATE merchants SET sub_account_payouts = $2 WHERE id = $1;

-- statement network_inbox_claim
WITH due AS (
             SELECT id FROM network_inbox WHERE shard = $1 AND due_at <= $2
             ORDER BY due_at LIMIT $4 FOR UPDATE SKIP LOCKED
           )
           UPDATE network_inbox SET due_at = $3, attempts = network_inbox.attempts + 1
           FROM due WHERE network_inbox.shard = $1 AND network_inbox.id = due.id
           RETURNING network_inbox.shard, network_inbox.id, connector, body, notifications::text AS "notificationsJson",
                     attempts, received_at AS "receivedAt";

-- statement network_inbox_delete_handled
DELETE FROM network_inbox WHERE shard = $1 AND ctid = ANY (ARRAY(
             SELECT ctid FROM network_inbox WHERE shard = $1 AND id < $2 AND handled_at < $3
             ORDER BY id LIMIT 500
           ));

-- statement network_inbox_insert
INSERT INTO network_inbox (shard, id, connector, body, notifications, due_at, attempts, received_at)
           VALUES ($1, $2, $3, $4, $5, $6, 0, $6);

-- statement network_inbox_lanes_due
SELECT DISTINCT shard FROM network_inbox WHERE due_at <= $1 ORDER BY shard;

-- statement network_inbox_update
UPDATE network_inbox SET due_at = $3, handled_at = $4, outcome = $5 WHERE shard = $1 AND id = $2;

-- statement network_prompt_times_add
INSERT INTO network_prompt_times (number, prompted_at) VALUES ($1, ARRAY[$2::timestamptz])
           ON CONFLICT (number) DO UPDATE
           SET prompted_at = (array_prepend($2::timestamptz, network_prompt_times.prompted_at))[1:10]
           WHERE network_prompt_times.prompted_at[10] IS NULL OR network_prompt_times.prompted_at[10] <= $3;

-- statement network_prompt_times_delete_old
DELETE FROM network_prompt_times WHERE prompted_at[1] < $1;

-- statement network_prompts_close
UPDATE network_prompts SET open_until = $4
           WHERE number = $1 AND network = $2 AND charge_id = $3 AND open_until > $4;

-- statement network_prompts_delete_old
DELETE FROM network_prompts WHERE open_until < $1;

-- statement network_prompts_open
INSERT INTO network_prompts (number, network, charge_id, open_until) VALUES ($1, $2, $3, $5)
           ON CONFLICT (number, network) DO UPDATE
           SET charge_id = excluded.charge_id, open_until = excluded.open_until
           WHERE network_prompts.open_until <= $4;

-- statement notification_channels_delete
DELETE FROM notification_channels WHERE channel = $1;

-- statement notification_channels_insert_once
INSERT INTO notification_channels (channel, scope, reason, stopped_at, retry_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (channel) DO NOTHING;

-- statement notification_channels_list
SELECT channel, scope, reason, stopped_at AS "stoppedAt", retry_at AS "retryAt" FROM notification_channels ORDER BY channel;

-- statement notification_channels_take_probe
UPDATE notification_channels SET retry_at = $3 WHERE channel = $1 AND retry_at <= $2;

-- statement notification_channels_update
UPDATE notification_channels SET scope = $2, reason = $3, retry_at = $4 WHERE channel = $1;

-- statement notification_numbers_clear_stop
UPDATE notification_numbers SET stopped_reason = NULL, stopped_at = NULL WHERE channel = $1 AND number = $2;

-- statement notification_numbers_keep_recipient
UPDATE notification_numbers
           SET recipient = COALESCE($3, recipient), stopped_reason = NULL, stopped_at = NULL
           WHERE channel = $1 AND number = $2;

-- statement notification_numbers_list
SELECT channel, next_at AS "nextAt", stopped_reason AS "stoppedReason", stopped_at AS "stoppedAt", recipient
           FROM notification_numbers WHERE channel = ANY ($1::text[]) AND number = $2;

-- statement notification_numbers_stop
UPDATE notification_numbers SET stopped_reason = $3, stopped_at = $4 WHERE channel = $1 AND number = $2;

-- statement notification_numbers_take_turn
INSERT INTO notification_numbers (channel, number, next_at, stopped_reason, stopped_at, recipient)
           VALUES ($1, $2, $4, NULL, NULL, NULL)
           ON CONFLICT (channel, number) DO UPDATE SET next_at = EXCLUDED.next_at
           WHERE notification_numbers.next_at <= $3;

-- statement notifications_apply_status
UPDATE notifications
           SET status = $6, due_at = NULL, message_id = COALESCE(message_id, $4), failure = $7, updated_at = $8
           WHERE merchant_id = $1 AND id = $2 AND channel = $3 AND status = ANY ($5::text[])
             AND (NOT $9 OR message_id IS NULL OR message_id = $4)
           RETURNING number;

-- statement notifications_claim
UPDATE notifications SET attempts = notifications.attempts + 1, due_at = $6, channel = $4, failure = NULL, updated_at = $5
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending' AND due_at <= $5;

-- statement notifications_count_ahead
SELECT count(*) AS count FROM notifications
           WHERE merchant_id = $1 AND due_at > $4 AND number = $2 AND id < $3
             AND NOT (attempts > 0 AND failure IS NULL);

-- statement notifications_delete_old
DELETE FROM notifications WHERE merchant_id = $1 AND due_at IS NULL AND ctid = ANY (ARRAY(
             SELECT ctid FROM notifications WHERE merchant_id = $1 AND id < $2 AND due_at IS NULL
             ORDER BY id LIMIT 500
           ));

-- statement notifications_end
UPDATE notifications SET status = $4, due_at = NULL, failure = $5, updated_at = $6
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending';

-- statement notifications_insert_once
INSERT INTO notifications (merchant_id, id, terminal_id, charge_id, number, channel, status, attempts, due_at,
             message_id, failure, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, 'pending', 0, $7, NULL, NULL, $7, $7)
           ON CONFLICT (merchant_id, charge_id, number) DO NOTHING;

-- statement notifications_list
SELECT merchant_id AS "merchantId", id, number, status, attempts, due_at AS "dueAt" FROM notifications
           WHERE merchant_id = $1 AND charge_id = $2 ORDER BY id;

-- statement notifications_list_newest
SELECT listed.terminal_id AS "terminalId", listed.number, newest.status, newest.updated_at AS "updatedAt",
                  newest.failure
           FROM (
             SELECT virtual_terminals.id AS terminal_id, unnest(chat_canonical) AS number FROM virtual_terminals
             WHERE virtual_terminals.merchant_id = $1 AND virtual_terminals.id = ANY ($2::uuid[])
           ) AS listed
           CROSS JOIN LATERAL (
             SELECT status, updated_at, failure FROM notifications
             WHERE notifications.merchant_id = $1 AND notifications.terminal_id = listed.terminal_id
               AND notifications.number = listed.number
             ORDER BY id DESC LIMIT 1
           ) AS newest;

-- statement notifications_mark_sent
UPDATE notifications SET status = 'sent', due_at = NULL, message_id = $4, failure = NULL, updated_at = $5
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending';

-- statement notifications_merchants_with_old
-- across merchants: the purge covers all of them
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT notifications.id FROM notifications
             WHERE notifications.merchant_id = merchants.id AND notifications.id < $1 AND due_at IS NULL
             ORDER BY notifications.id LIMIT 1
           ) AS oldest LIMIT 20;

-- statement notifications_postpone
UPDATE notifications SET due_at = $4, failure = COALESCE($5, failure), updated_at = $6
           WHERE merchant_id = $1 AND id = $2 AND attempts = $3 AND status = 'pending';

-- statement operators_exist
SELECT EXISTS (SELECT FROM operators) AS found;

-- statement operators_find_by_hmac
SELECT id, name, created_at AS "createdAt", revoked_at AS "revokedAt" FROM operators WHERE credential_hmac = $1;

-- statement operators_insert
INSERT INTO operators (id, name, credential_hmac, pepper_version, created_at, revoked_at)
           VALUES ($1, $2, $3, $4, $5, $6);

-- statement operators_list
SELECT id, name, created_at AS "createdAt", revoked_at AS "revokedAt" FROM operators ORDER BY created_at, id;

-- statement operators_revoke
UPDATE operators SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL;

-- statement outbox_cancel
DELETE FROM outbox WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3;

-- statement outbox_claim
WITH due AS (
             SELECT kind, subject_id FROM (
               SELECT kind, subject_id FROM outbox
               WHERE merchant_id = $1 AND queue = $2 AND due_at <= $3
               ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT 128
           )
           UPDATE outbox SET due_at = $4, attempts = outbox.attempts + 1, version = outbox.version + 1
           FROM due
           WHERE outbox.merchant_id = $1 AND outbox.kind = due.kind AND outbox.subject_id = due.subject_id
           RETURNING outbox.merchant_id AS "merchantId", outbox.queue, outbox.kind,
                     outbox.subject_id AS "subjectId", outbox.attempts, outbox.version,
                     outbox.created_at AS "createdAt";

-- statement outbox_delete
DELETE FROM outbox WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3 AND version = $4;

-- statement outbox_due
-- across merchants: a worker polls the work of all
           SELECT merchants.id AS "merchantId", requested.queue FROM merchants
           CROSS JOIN LATERAL (
             SELECT kind FROM outbox WHERE outbox.merchant_id = merchants.id ORDER BY kind, subject_id LIMIT 1
           ) AS busy
           CROSS JOIN unnest($1::text[]) AS requested (queue)
           CROSS JOIN LATERAL (
             SELECT due_at FROM outbox WHERE outbox.merchant_id = merchants.id AND outbox.queue = requested.queue
             ORDER BY due_at LIMIT 1
           ) AS earliest
           WHERE earliest.due_at <= $2;

-- statement outbox_postpone
UPDATE outbox SET due_at = $5 WHERE merchant_id = $1 AND kind = $2 AND subject_id = $3 AND version = $4;

-- statement outbox_summary
-- across merchants: the operator watches the queues
           SELECT queue, count(*) FILTER (WHERE due_at <= $1) AS count,
                  min(due_at) FILTER (WHERE due_at <= $1) AS "oldestDueAt",
                  count(*) FILTER (WHERE due_at > $1) AS "waitingCount"
           FROM outbox GROUP BY queue;

-- statement outbox_take
WITH due AS (
             SELECT kind, subject_id FROM (
               SELECT kind, subject_id FROM outbox
               WHERE merchant_id = $1 AND queue = $2 AND kind = $3 AND due_at <= $4
               ORDER BY due_at LIMIT $5 FOR UPDATE SKIP LOCKED
             ) AS longest LIMIT 128
           )
           DELETE FROM outbox USING due
           WHERE outbox.merchant_id = $1 AND outbox.kind = due.kind AND outbox.subject_id = due.subject_id
           RETURNING outbox.merchant_id AS "merchantId", outbox.queue, outbox.kind,
                     outbox.subject_id AS "subjectId", outbox.attempts, outbox.version,
                     outbox.created_at AS "createdAt";

-- statement outbox_upsert
INSERT INTO outbox (merchant_id, kind, subject_id, queue, due_at, attempts, version, created_at)
           VALUES ($1, $2, $3, $4, $5, 0, 0, $6)
           ON CONFLICT (merchant_id, kind, subject_id) DO UPDATE
           SET due_at = LEAST(outbox.due_at, excluded.due_at), version = outbox.version + 1;

-- statement page_limits_find
SELECT arrival_us AS "arrivalUs" FROM page_limits WHERE merchant_id = $1 AND page_owner_id = $2;

-- statement page_limits_take
INSERT INTO page_limits (merchant_id, page_owner_id, arrival_us)
           VALUES ($1, $2, $3::bigint + $4::bigint)
          ON CONFLICT (merchant_id, page_owner_id) DO UPDATE
          SET arrival_us = CASE WHEN page_limits.arrival_us > $6::bigint THEN $3::bigint ELSE GREATEST(page_limits.arrival_us, $3::bigint) END + $4::bigint
          WHERE page_limits.arrival_us > $6::bigint OR GREATEST(page_limits.arrival_us, $3::bigint) + $4::bigint - $3::bigint <= $5::bigint
          RETURNING arrival_us AS "arrivalUs";

-- statement payment_intents_clear_form_hash
UPDATE payment_intents SET form_hash = NULL WHERE merchant_id = $1 AND id = $2 AND status = $3;

-- statement payment_intents_clear_payer
UPDATE payment_intents SET customer_name = NULL, customer_email = NULL, customer_phone = NULL
           WHERE merchant_id = $1 AND id = ANY (ARRAY(
             SELECT id FROM payment_intents
             WHERE merchant_id = $1 AND customer_id = $2
               AND (customer_name IS NOT NULL OR customer_email IS NOT NULL OR customer_phone IS NOT NULL)
             ORDER BY id LIMIT $3
           ));

-- statement payment_intents_count_all
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1   LIMIT $2
           ) AS counted;

-- statement payment_intents_count_expired
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = 'expired' OR (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $2))  LIMIT $3
           ) AS counted;

-- statement payment_intents_count_from
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at >= $2  LIMIT $3
           ) AS counted;

-- statement payment_intents_count_from_to
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at >= $2 AND payment_intents.created_at <= $3  LIMIT $4
           ) AS counted;

-- statement payment_intents_count_status
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = $2 AND NOT (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $3))  LIMIT $4
           ) AS counted;

-- statement payment_intents_count_status_from
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = $2 AND NOT (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $3)) AND payment_intents.created_at >= $4  LIMIT $5
           ) AS counted;

-- statement payment_intents_count_term_or_payer
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND ((title ILIKE ANY ($2::text[]) OR description ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[])) OR (customer_name ILIKE $3 OR customer_email ILIKE $3 OR customer_phone ILIKE $3 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($4::text[])))  LIMIT $5
           ) AS counted;

-- statement payment_intents_count_to
SELECT count(*) AS count FROM (
             SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at <= $2  LIMIT $3
           ) AS counted;

-- statement payment_intents_find_by_form_hash
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND form_hash = $2;

-- statement payment_intents_find_by_id
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND id = $2;

-- statement payment_intents_find_by_secret
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND intent_secret = $2;

-- statement payment_intents_find_by_token
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND checkout_token = $2;

-- statement payment_intents_insert
INSERT INTO payment_intents (merchant_id, id, status, amount, fee, fee_payer, currency, intent_secret,
             checkout_token, return_url, cancel_url, callback_url, title, description, sub_account_id,
             sub_account_group_id, customer_id, customer_name, customer_email, customer_phone, payment_methods,
             metadata, source, payment_link_id, terminal_id, custom_fields_values, attempts, late, review,
             event_sequence, created_at, updated_at, expires_at, form_hash)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $23, $24, $25, $26, $27, $28, $29, $30, $31, $31, $32, $33);

-- statement payment_intents_list_all
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement payment_intents_list_before
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_intents_list_by_ids
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND id = ANY ($2::uuid[]);

-- statement payment_intents_list_expired
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = 'expired' OR (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $2))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_intents_list_from
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at >= $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_intents_list_from_to
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at >= $2 AND payment_intents.created_at <= $3
           ORDER BY id DESC LIMIT $4 OFFSET $5;

-- statement payment_intents_list_status
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = $2 AND NOT (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $3))
           ORDER BY id DESC LIMIT $4 OFFSET $5;

-- statement payment_intents_list_status_from
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND (status = $2 AND NOT (status IN ('requires_payment_method', 'processing') AND review IS NULL AND expires_at <= $3)) AND payment_intents.created_at >= $4
           ORDER BY id DESC LIMIT $5 OFFSET $6;

-- statement payment_intents_list_term_or_payer
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND ((title ILIKE ANY ($2::text[]) OR description ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[])) OR (customer_name ILIKE $3 OR customer_email ILIKE $3 OR customer_phone ILIKE $3 OR regexp_replace(customer_phone, '\D', '', 'g') LIKE ANY ($4::text[])))
           ORDER BY id DESC LIMIT $5 OFFSET $6;

-- statement payment_intents_list_to
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND payment_intents.created_at <= $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_intents_lock
SELECT payment_intents.merchant_id AS "merchantId", id, status, amount AS "amountMinor", fee AS "feeMinor",
  fee_payer AS "feePayer", currency, intent_secret AS "intentSecret", checkout_token AS "checkoutToken",
  return_url AS "returnUrl", cancel_url AS "cancelUrl", callback_url AS "callbackUrl", title, description,
  sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", CASE WHEN sub_account_id IS NULL AND sub_account_group_id IS NULL THEN NULL ELSE (
    SELECT json_agg(json_build_array(sub_account_id, percent_hundredths::text, amount::text) ORDER BY position)
    FROM intent_shares
    WHERE intent_shares.merchant_id = $1 AND intent_shares.intent_id = payment_intents.id
  ) END AS shares,
  customer_id AS "customerId", customer_name AS "customerName", customer_email AS "customerEmail",
  customer_phone AS "customerPhone", payment_methods AS "paymentMethods", metadata, source, payment_link_id AS "paymentLinkId",
  terminal_id AS "terminalId", custom_fields_values AS "customFieldsValues", form_hash AS "formHash", attempts, late, review,
  event_sequence AS "eventSequence", created_at AS "createdAt", updated_at AS "updatedAt", expires_at AS "expiresAt" FROM payment_intents WHERE merchant_id = $1 AND id = $2 FOR UPDATE;

-- statement payment_intents_to_expire
-- across merchants: the sweep looks for whoever has an intent to expire
           SELECT payment_intents.merchant_id AS "merchantId", payment_intents.id
           FROM merchants CROSS JOIN LATERAL (
             SELECT merchant_id, id FROM payment_intents
             WHERE merchant_id = merchants.id AND status IN ('requires_payment_method', 'processing')
               AND expires_at <= $1 AND review IS NULL
             ORDER BY expires_at LIMIT $2
           ) AS payment_intents;

-- statement payment_intents_update
UPDATE payment_intents
           SET status = $4, attempts = $5, late = $6, review = $7, event_sequence = $8, updated_at = $9
           WHERE merchant_id = $1 AND id = $2 AND status = $3;

-- statement payment_links_count_active
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND active = $2  LIMIT $3
           ) AS counted;

-- statement payment_links_count_active_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND active = $2 AND (title ILIKE ANY ($3::text[]) OR description ILIKE ANY ($3::text[]) OR token ILIKE ANY ($3::text[]) OR id::text ILIKE ANY ($3::text[]))  LIMIT $4
           ) AS counted;

-- statement payment_links_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL   LIMIT $2
           ) AS counted;

-- statement payment_links_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND (title ILIKE ANY ($2::text[]) OR description ILIKE ANY ($2::text[]) OR token ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement payment_links_find
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND id = $2;

-- statement payment_links_find_by_token
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND token = $2;

-- statement payment_links_insert
INSERT INTO payment_links (merchant_id, id, token, title, description, amount, min_amount, currency, metadata,
             redirect_url, cancel_url, custom_fields, sub_account_id, sub_account_group_id, active, created_at,
             updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, NULL);

-- statement payment_links_list_active
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND active = $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_links_list_active_term
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND active = $2 AND (title ILIKE ANY ($3::text[]) OR description ILIKE ANY ($3::text[]) OR token ILIKE ANY ($3::text[]) OR id::text ILIKE ANY ($3::text[]))
           ORDER BY id DESC LIMIT $4 OFFSET $5;

-- statement payment_links_list_all
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement payment_links_list_before
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_links_list_term
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links WHERE merchant_id = $1 AND deleted_at IS NULL AND (title ILIKE ANY ($2::text[]) OR description ILIKE ANY ($2::text[]) OR token ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement payment_links_lock_for_change
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement payment_links_mark_deleted
UPDATE payment_links SET deleted_at = $3, updated_at = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement payment_links_update
UPDATE payment_links
           SET title = $3, description = $4, amount = $5, min_amount = $6, metadata = $7, redirect_url = $8,
               cancel_url = $9, custom_fields = $10, sub_account_id = $11, sub_account_group_id = $12, active = $13,
               updated_at = $14
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement payment_links_update_rate_limit
UPDATE payment_links SET rate_limit = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement payment_links_with_rate_limit
SELECT merchant_id AS "merchantId", id, token, title, description, amount AS "amountMinor",
  min_amount AS "minAmountMinor", currency, metadata, redirect_url AS "redirectUrl", cancel_url AS "cancelUrl",
  custom_fields AS "customFields", sub_account_id AS "subAccountId", sub_account_group_id AS "subAccountGroupId", active,
  created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit", deleted_at AS "deletedAt" FROM payment_links
           WHERE merchant_id = $1 AND rate_limit IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT $2;

-- statement ping
SELECT 1;

-- statement provider_transactions_find_owner
-- across merchants: a transaction settles one thing, whichever merchant's
           SELECT merchant_id AS "merchantId", subject_id AS "subjectId" FROM provider_transactions
           WHERE rail_account = $1 AND transaction_id = $2 AND kind = $3;

-- statement provider_transactions_insert_once
INSERT INTO provider_transactions (rail_account, transaction_id, kind, merchant_id, subject_id, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (rail_account, transaction_id, kind) DO NOTHING;

-- statement rate_limits_find
SELECT arrival_us AS "arrivalUs" FROM rate_limits WHERE merchant_id = $1;

-- statement rate_limits_take
INSERT INTO rate_limits (merchant_id, arrival_us) VALUES ($1, $2::bigint + $3::bigint)
          ON CONFLICT (merchant_id) DO UPDATE
          SET arrival_us = CASE WHEN rate_limits.arrival_us > $5::bigint THEN $2::bigint ELSE GREATEST(rate_limits.arrival_us, $2::bigint) END + $3::bigint
          WHERE rate_limits.arrival_us > $5::bigint OR GREATEST(rate_limits.arrival_us, $2::bigint) + $3::bigint - $2::bigint <= $4::bigint
          RETURNING arrival_us AS "arrivalUs";

-- statement refund_parts_delete
DELETE FROM refund_parts WHERE merchant_id = $1 AND refund_id = $2;

-- statement refund_parts_insert_1
INSERT INTO refund_parts (merchant_id, refund_id, account, amount, advanced) VALUES ($1, $2, $3, $4, $5);

-- statement refund_parts_update
UPDATE refund_parts SET amount = $4, advanced = $5 WHERE merchant_id = $1 AND refund_id = $2 AND account = $3;

-- statement refunds_count_all
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1   LIMIT $2
           ) AS counted;

-- statement refunds_count_charge
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND charge_id = $2  LIMIT $3
           ) AS counted;

-- statement refunds_count_from
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.created_at >= $2  LIMIT $3
           ) AS counted;

-- statement refunds_count_status
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND CASE WHEN transfers.status IN ('pending', 'completed') THEN transfers.status ELSE 'failed' END = $2  LIMIT $3
           ) AS counted;

-- statement refunds_count_term
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND (transfers.reference ILIKE ANY ($2::text[]) OR transfers.account_number ILIKE ANY ($2::text[]) OR transfers.account_canonical ILIKE ANY ($2::text[]) OR charges.reference ILIKE ANY ($2::text[]) OR charges.transaction_reference ILIKE ANY ($2::text[]) OR refunds.id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement refunds_count_to
SELECT count(*) AS count FROM (
             SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.created_at <= $2  LIMIT $3
           ) AS counted;

-- statement refunds_find_by_id
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.id = $2;

-- statement refunds_insert
INSERT INTO refunds (merchant_id, id, charge_id, amount, currency, created_at)
           VALUES ($1, $2, $3, $4, $5, $6);

-- statement refunds_list_all
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 
           ORDER BY refunds.id DESC LIMIT $2 OFFSET $3;

-- statement refunds_list_before
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.id < $2
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement refunds_list_charge
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND charge_id = $2
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement refunds_list_from
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.created_at >= $2
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement refunds_list_of_charge
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND charge_id = $2 ORDER BY refunds.id;

-- statement refunds_list_status
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND CASE WHEN transfers.status IN ('pending', 'completed') THEN transfers.status ELSE 'failed' END = $2
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement refunds_list_term
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND (transfers.reference ILIKE ANY ($2::text[]) OR transfers.account_number ILIKE ANY ($2::text[]) OR transfers.account_canonical ILIKE ANY ($2::text[]) OR charges.reference ILIKE ANY ($2::text[]) OR charges.transaction_reference ILIKE ANY ($2::text[]) OR refunds.id::text ILIKE ANY ($2::text[]))
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement refunds_list_to
SELECT refunds.merchant_id AS "merchantId", refunds.id, charge_id AS "chargeId", intent_id AS "intentId",
  transaction_reference AS "transactionReference", refunds.amount AS "amountMinor", refunds.currency,
  COALESCE((
    SELECT json_agg(json_build_array(account, refund_parts.amount::text, advanced::text) ORDER BY account)
    FROM refund_parts WHERE refund_parts.merchant_id = $1 AND refund_parts.refund_id = refunds.id
  ), '[]') AS parts, transfers.status AS "transferStatus", route, transfers.network, transfers.reference,
  transfers.network_reference AS "networkReference", transfers.network_transaction_id AS "networkTransactionId",
  transfers.amount_reversed AS "amountReversedMinor", waiting_for AS "waitingFor", transfers.failure_code AS "failureCode", transfers.failure_reason AS "failureReason",
  transfers.review, refunds.created_at AS "createdAt", transfers.updated_at AS "updatedAt",
  completed_at AS "completedAt" FROM refunds
  JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
  JOIN charges ON charges.merchant_id = refunds.merchant_id AND charges.id = refunds.charge_id WHERE refunds.merchant_id = $1 AND refunds.created_at <= $2
           ORDER BY refunds.id DESC LIMIT $3 OFFSET $4;

-- statement reserve_rules_delete
DELETE FROM reserve_rules WHERE merchant_id = $1;

-- statement reserve_rules_upsert
INSERT INTO reserve_rules (merchant_id, percent_hundredths, hours, new_for_days) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id) DO UPDATE SET percent_hundredths = excluded.percent_hundredths, hours = excluded.hours,
             new_for_days = excluded.new_for_days;

-- statement service_limits_find
-- across merchants: see service_limits_take
           SELECT arrival_us AS "arrivalUs" FROM service_limits WHERE name = $1;

-- statement service_limits_take
-- across merchants: a code is guessed before anybody knows whose counter it is at
           INSERT INTO service_limits (name, arrival_us) VALUES ($1, $2::bigint + $3::bigint)
          ON CONFLICT (name) DO UPDATE
          SET arrival_us = CASE WHEN service_limits.arrival_us > $5::bigint THEN $2::bigint ELSE GREATEST(service_limits.arrival_us, $2::bigint) END + $3::bigint
          WHERE service_limits.arrival_us > $5::bigint OR GREATEST(service_limits.arrival_us, $2::bigint) + $3::bigint - $2::bigint <= $4::bigint
          RETURNING arrival_us AS "arrivalUs";

-- statement settlement_count_unsettled
SELECT count(*) AS count FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM settlement_periods
  WHERE settlement_periods.merchant_id = $1 AND settlement_periods.sub_account_id = sub_accounts.id
    AND settlement_periods.period = $2 AND (transfer_id IS NOT NULL OR NOT $3::boolean)
);

-- statement settlement_find_charge
SELECT id, intent_id AS "intentId" FROM charges WHERE merchant_id = $1 AND id = $2;

-- statement settlement_find_open_intent
SELECT payment_intents.id FROM intent_shares
           JOIN payment_intents
             ON payment_intents.merchant_id = intent_shares.merchant_id AND payment_intents.id = intent_shares.intent_id
           WHERE intent_shares.merchant_id = $1 AND intent_shares.sub_account_id = $2
             AND payment_intents.status IN ('requires_payment_method', 'processing')
             AND (payment_intents.expires_at > $3 OR payment_intents.review IS NOT NULL)
           LIMIT 1;

-- statement settlement_find_transfer_from
SELECT transfers.id, transfers.kind FROM ledger_movements
           JOIN transfers
             ON transfers.merchant_id = ledger_movements.merchant_id AND transfers.id = ledger_movements.source_id
           WHERE ledger_movements.merchant_id = $1 AND debit_account = ANY ($2::text[])
             AND debit_account LIKE 'sub:%' AND flow = 'held' AND transfers.status = 'pending'
           LIMIT 1;

-- statement settlement_knows_sub_account
SELECT id FROM sub_accounts WHERE merchant_id = $1 AND id = $2;

-- statement settlement_list_charges_of_lines
SELECT charges.id, transaction_reference AS reference, title FROM charges
           JOIN payment_intents
             ON payment_intents.merchant_id = charges.merchant_id AND payment_intents.id = charges.intent_id
           WHERE charges.merchant_id = $1 AND charges.id = ANY ($2::uuid[]);

-- statement settlement_list_merchants
-- across merchants: a worker looks for every merchant with a period to settle
           SELECT id FROM merchants
           WHERE sub_account_payouts <> 'manual' AND NOT EXISTS (
             SELECT 1 FROM settlement_runs
             WHERE settlement_runs.merchant_id = merchants.id
               AND period = CASE sub_account_payouts WHEN 'daily' THEN $1::date ELSE $2::date END
           )
           ORDER BY id;

-- statement settlement_list_refunds_of_charge
SELECT refunds.id, transfers.status = 'pending' AS "isOpen" FROM refunds
           JOIN transfers ON transfers.merchant_id = refunds.merchant_id AND transfers.id = refunds.id
           WHERE refunds.merchant_id = $1 AND refunds.charge_id = $2;

-- statement settlement_list_repayable_debts
-- across merchants: a worker looks for every debt that can be repaid
           WITH owed AS (
             SELECT merchant_id, account, currency, balance AS amount FROM ledger_accounts
             WHERE kind IN ('receivable_merchant', 'sub_owed') AND kind = 'sub_owed' AND balance > 0
             UNION ALL
             SELECT merchant_id, account, currency, amount FROM ledger_deltas WHERE account LIKE 'sub_owed:%'
           ), debts AS (
             SELECT merchant_id, account, 'sub:' || split_part(account, ':', 2) AS own, currency FROM owed
             GROUP BY merchant_id, account, currency HAVING sum(amount) > 0
           )
           SELECT merchant_id AS "merchantId", account, currency FROM debts
           WHERE (SELECT COALESCE(sum(amount), 0) FROM (
                    SELECT balance AS amount FROM ledger_accounts
                    WHERE merchant_id = debts.merchant_id AND account = debts.own AND currency = debts.currency
                    UNION ALL
                    SELECT amount FROM ledger_deltas
                    WHERE merchant_id = debts.merchant_id AND account = debts.own AND currency = debts.currency
                  ) AS settled) > 0
           ORDER BY merchant_id, account LIMIT $1;

-- statement settlement_list_transfers_of_lines
SELECT id, kind, reference FROM transfers WHERE merchant_id = $1 AND id = ANY ($2::uuid[]);

-- statement settlement_list_unsettled
SELECT id FROM sub_accounts
           WHERE merchant_id = $1 AND deleted_at IS NULL AND id > $4 AND NOT EXISTS (
  SELECT 1 FROM settlement_periods
  WHERE settlement_periods.merchant_id = $1 AND settlement_periods.sub_account_id = sub_accounts.id
    AND settlement_periods.period = $2 AND (transfer_id IS NOT NULL OR NOT $3::boolean)
)
           ORDER BY id LIMIT $5;

-- statement settlement_lock_beneficiaries
SELECT id, name, settlement_code AS "settlementCode", account_number AS "accountNumber",
             account_canonical AS "accountCanonical"
           FROM sub_accounts WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL
           ORDER BY id FOR KEY SHARE;

-- statement settlement_mark_charge_settled
UPDATE charges SET settled_at = $3
           WHERE merchant_id = $1 AND id = $2 AND settles_at IS NOT NULL AND settled_at IS NULL;

-- statement settlement_periods_claim_1
INSERT INTO settlement_periods (merchant_id, sub_account_id, period, transfer_id, refusal, created_at)
           VALUES ($1, $4, $2, $5, $6, $3)
           ON CONFLICT (merchant_id, sub_account_id, period) DO UPDATE
           SET transfer_id = excluded.transfer_id, refusal = excluded.refusal, created_at = excluded.created_at
             WHERE settlement_periods.transfer_id IS NULL
           RETURNING sub_account_id AS id;

-- statement settlement_periods_delete_before
-- across merchants: retention is the same for all of them
           DELETE FROM settlement_periods WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM settlement_periods WHERE period < $1 ORDER BY period LIMIT 500
           ));

-- statement settlement_runs_delete_before
-- across merchants: retention is the same for all of them
           DELETE FROM settlement_runs WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM settlement_runs WHERE period < $1 ORDER BY period LIMIT 500
           ));

-- statement settlement_runs_insert
INSERT INTO settlement_runs (merchant_id, period, finished_at) VALUES ($1, $2, $3)
           ON CONFLICT (merchant_id, period) DO NOTHING;

-- statement simulator_callback_claim
WITH due AS (
             SELECT account, subject_id, id, due_at FROM simulator.callbacks
             WHERE due_at <= $1 ORDER BY due_at LIMIT $3 FOR UPDATE SKIP LOCKED
           )
           UPDATE simulator.callbacks AS callbacks SET due_at = $2, attempts = callbacks.attempts + 1
           FROM due
           WHERE callbacks.account = due.account AND callbacks.subject_id = due.subject_id AND callbacks.id = due.id
           RETURNING callbacks.account, callbacks.subject_id AS "subjectId", callbacks.id, callbacks.url,
             callbacks.network, callbacks.body, callbacks.occurs_at AS "occursAt", due.due_at AS "dueAt",
             callbacks.attempts;

-- statement simulator_callback_delete
DELETE FROM simulator.callbacks WHERE account = $1 AND subject_id = $2 AND id = $3 AND attempts = $4;

-- statement simulator_callback_delete_to_come
DELETE FROM simulator.callbacks WHERE account = $1 AND subject_id = $2 AND occurs_at > $3;

-- statement simulator_callback_insert
INSERT INTO simulator.callbacks (account, subject_id, id, url, network, body, occurs_at, due_at, attempts)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 0);

-- statement simulator_callback_next
SELECT due_at AS "dueAt" FROM simulator.callbacks ORDER BY due_at LIMIT 1;

-- statement simulator_callback_postpone
UPDATE simulator.callbacks SET due_at = $5
           WHERE account = $1 AND subject_id = $2 AND id = $3 AND attempts = $4;

-- statement simulator_chat_messages_delete_old
DELETE FROM simulator.chat_messages WHERE ctid = ANY (ARRAY(
             SELECT ctid FROM simulator.chat_messages WHERE created_at < $1
             ORDER BY created_at LIMIT 500
           ));

-- statement simulator_chat_messages_insert
INSERT INTO simulator.chat_messages (number, id, body, created_at) VALUES ($1, $2, $3, $4);

-- statement simulator_chat_messages_list
SELECT id, body, created_at AS "createdAt" FROM simulator.chat_messages
           WHERE number = $1 ORDER BY id DESC LIMIT $2;

-- statement simulator_float_find
SELECT account, network, beneficiary_number AS "beneficiaryNumber", state, changed_at AS "changedAt" FROM simulator.floats
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3;

-- statement simulator_float_insert_empty
INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
           VALUES ($1, $2, $3, 'empty', $4)
           ON CONFLICT (account, network, beneficiary_number) DO NOTHING;

-- statement simulator_float_list_by_number
SELECT account, network, beneficiary_number AS "beneficiaryNumber", state, changed_at AS "changedAt" FROM simulator.floats
           WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
           ORDER BY changed_at DESC, account, network LIMIT $3;

-- statement simulator_float_upsert
INSERT INTO simulator.floats (account, network, beneficiary_number, state, changed_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, network, beneficiary_number)
           DO UPDATE SET state = excluded.state, changed_at = excluded.changed_at
           WHERE floats.state <> excluded.state;

-- statement simulator_outage_delete
DELETE FROM simulator.outages WHERE account = $1 AND network = $2 AND payer_number = $3;

-- statement simulator_outage_find
SELECT ends_at AS "endsAt" FROM simulator.outages
           WHERE account = $1 AND network = $2 AND payer_number = $3;

-- statement simulator_outage_upsert
INSERT INTO simulator.outages (account, network, payer_number, began_at, ends_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, network, payer_number)
           DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at;

-- statement simulator_payout_find
SELECT account, id, network, reference, fingerprint, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  currency, beneficiary_number AS "beneficiaryNumber", beneficiary_number_as_sent AS "beneficiaryNumberAsSent",
  beneficiary_name AS "beneficiaryName", description, callback_url AS "callbackUrl",
  transaction_id AS "transactionId", refunded_transaction_id AS "refundedTransactionId", created_at AS "createdAt" FROM simulator.payouts WHERE account = $1 AND id = $2;

-- statement simulator_payout_find_by_reference
SELECT account, id, network, reference, fingerprint, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  currency, beneficiary_number AS "beneficiaryNumber", beneficiary_number_as_sent AS "beneficiaryNumberAsSent",
  beneficiary_name AS "beneficiaryName", description, callback_url AS "callbackUrl",
  transaction_id AS "transactionId", refunded_transaction_id AS "refundedTransactionId", created_at AS "createdAt" FROM simulator.payouts WHERE account = $1 AND network = $2 AND reference = $3;

-- statement simulator_payout_insert
INSERT INTO simulator.payouts (account, id, network, reference, fingerprint, status, failure_code,
             planned_status, planned_at, visible_at, amount, currency, beneficiary_number,
             beneficiary_number_as_sent, beneficiary_name, description, callback_url, transaction_id,
             refunded_transaction_id, created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
           ON CONFLICT (account, network, reference) DO NOTHING;

-- statement simulator_payout_list_by_number
SELECT account, id, network, reference, fingerprint, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  currency, beneficiary_number AS "beneficiaryNumber", beneficiary_number_as_sent AS "beneficiaryNumberAsSent",
  beneficiary_name AS "beneficiaryName", description, callback_url AS "callbackUrl",
  transaction_id AS "transactionId", refunded_transaction_id AS "refundedTransactionId", created_at AS "createdAt" FROM simulator.payouts
           WHERE beneficiary_number = $1 AND ($2::text IS NULL OR account = $2)
             AND (status = 'completed' OR planned_status = 'completed')
           ORDER BY created_at DESC, id DESC LIMIT $3;

-- statement simulator_payout_list_refunds
SELECT account, id, network, reference, fingerprint, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  currency, beneficiary_number AS "beneficiaryNumber", beneficiary_number_as_sent AS "beneficiaryNumberAsSent",
  beneficiary_name AS "beneficiaryName", description, callback_url AS "callbackUrl",
  transaction_id AS "transactionId", refunded_transaction_id AS "refundedTransactionId", created_at AS "createdAt" FROM simulator.payouts
           WHERE account = $1 AND network = $2 AND refunded_transaction_id = $3;

-- statement simulator_payout_outage_delete
DELETE FROM simulator.payout_outages
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3;

-- statement simulator_payout_outage_find
SELECT ends_at AS "endsAt" FROM simulator.payout_outages
           WHERE account = $1 AND network = $2 AND beneficiary_number = $3;

-- statement simulator_payout_outage_upsert
INSERT INTO simulator.payout_outages (account, network, beneficiary_number, began_at, ends_at)
           VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (account, network, beneficiary_number)
           DO UPDATE SET began_at = excluded.began_at, ends_at = excluded.ends_at;

-- statement simulator_session_find
SELECT account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  created_at AS "createdAt", expires_at AS "expiresAt" FROM simulator.sessions WHERE account = $1 AND id = $2;

-- statement simulator_session_find_by_reference
SELECT account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  created_at AS "createdAt", expires_at AS "expiresAt" FROM simulator.sessions WHERE account = $1 AND network = $2 AND reference = $3;

-- statement simulator_session_insert
INSERT INTO simulator.sessions (account, id, network, reference, fingerprint, shape, status, failure_code,
             planned_status, planned_at, visible_at, amount, amount_paid, currency, payer_number,
             payer_number_as_sent, description, return_url, callback_url, code, code_attempts_left, transaction_id,
             approved_at, created_at, expires_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $23, $24, $25)
           ON CONFLICT (account, network, reference) DO NOTHING;

-- statement simulator_session_list_by_number
SELECT account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  created_at AS "createdAt", expires_at AS "expiresAt" FROM simulator.sessions
           WHERE payer_number = $1 AND ($2::text IS NULL OR account = $2)
           ORDER BY created_at DESC, id DESC LIMIT $3;

-- statement simulator_session_lock
SELECT account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  created_at AS "createdAt", expires_at AS "expiresAt" FROM simulator.sessions WHERE account = $1 AND id = $2 FOR UPDATE;

-- statement simulator_session_lock_by_transaction
SELECT account, id, network, reference, fingerprint, shape, status, failure_code AS "failureCode",
  planned_status AS "plannedStatus", planned_at AS "plannedAt", visible_at AS "visibleAt", amount AS "amountMinor",
  amount_paid AS "amountPaidMinor", currency, payer_number AS "payerNumber",
  payer_number_as_sent AS "payerNumberAsSent", description, return_url AS "returnUrl", callback_url AS "callbackUrl",
  code, code_attempts_left AS "codeAttemptsLeft", transaction_id AS "transactionId", approved_at AS "approvedAt",
  created_at AS "createdAt", expires_at AS "expiresAt" FROM simulator.sessions
           WHERE account = $1 AND network = $2 AND transaction_id = $3 FOR UPDATE;

-- statement simulator_session_update
UPDATE simulator.sessions SET status = $3, failure_code = $4, planned_status = $5, planned_at = $6,
             code_attempts_left = $7, approved_at = $8
           WHERE account = $1 AND id = $2;

-- statement sub_account_group_members_delete
DELETE FROM sub_account_group_members WHERE merchant_id = $1 AND group_id = $2;

-- statement sub_account_group_members_insert_1
INSERT INTO sub_account_group_members (merchant_id, group_id, position, sub_account_id, percent_hundredths)
           VALUES ($1, $2, $3, $4, $5);

-- statement sub_account_group_members_list
SELECT members.group_id AS "groupId", members.sub_account_id AS "subAccountId", sub_accounts.name,
             members.percent_hundredths AS "percentHundredths"
           FROM sub_account_group_members AS members
           JOIN sub_accounts
             ON sub_accounts.merchant_id = members.merchant_id AND sub_accounts.id = members.sub_account_id
           WHERE members.merchant_id = $1 AND members.group_id = ANY ($2::uuid[])
           ORDER BY members.group_id, members.position;

-- statement sub_account_groups_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL   LIMIT $2
           ) AS counted;

-- statement sub_account_groups_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement sub_account_groups_find
SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement sub_account_groups_find_of
SELECT groups.id, groups.name FROM sub_account_group_members AS members
           JOIN sub_account_groups AS groups
             ON groups.merchant_id = members.merchant_id AND groups.id = members.group_id
           WHERE members.merchant_id = $1 AND members.sub_account_id = $2 ORDER BY groups.id LIMIT 1;

-- statement sub_account_groups_insert
INSERT INTO sub_account_groups (merchant_id, id, name, created_at, updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, NULL);

-- statement sub_account_groups_list_all
SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement sub_account_groups_list_before
SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement sub_account_groups_list_term
SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement sub_account_groups_lock
SELECT merchant_id AS "merchantId", id, name, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_account_groups
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement sub_account_groups_lock_for_split
SELECT members.sub_account_id AS "subAccountId", sub_accounts.name, sub_accounts.active,
             members.percent_hundredths AS "percentHundredths"
           FROM sub_account_groups AS groups
           JOIN sub_account_group_members AS members
             ON members.merchant_id = groups.merchant_id AND members.group_id = groups.id
           JOIN sub_accounts
             ON sub_accounts.merchant_id = members.merchant_id AND sub_accounts.id = members.sub_account_id
           WHERE groups.merchant_id = $1 AND groups.id = $2 AND groups.deleted_at IS NULL
           ORDER BY members.position
           FOR KEY SHARE OF sub_accounts;

-- statement sub_account_groups_mark_deleted
UPDATE sub_account_groups SET deleted_at = $3, updated_at = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement sub_account_groups_update
UPDATE sub_account_groups SET name = $3, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement sub_accounts_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL   LIMIT $2
           ) AS counted;

-- statement sub_accounts_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR account_number ILIKE ANY ($2::text[]) OR account_canonical ILIKE ANY ($2::text[]) OR settlement_code ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement sub_accounts_find
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement sub_accounts_insert
INSERT INTO sub_accounts (merchant_id, id, name, percent_hundredths, settlement_code, account_number,
             account_canonical, active, created_at, updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, NULL);

-- statement sub_accounts_list_all
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement sub_accounts_list_before
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement sub_accounts_list_term
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR account_number ILIKE ANY ($2::text[]) OR account_canonical ILIKE ANY ($2::text[]) OR settlement_code ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement sub_accounts_lock_for_change
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement sub_accounts_lock_for_deletion
SELECT merchant_id AS "merchantId", id, name, percent_hundredths AS "percentHundredths",
  settlement_code AS "settlementCode", account_number AS "accountNumber", account_canonical AS "accountCanonical",
  active, created_at AS "createdAt", updated_at AS "updatedAt" FROM sub_accounts
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR UPDATE;

-- statement sub_accounts_lock_for_shares
SELECT id, deleted_at AS "deletedAt" FROM sub_accounts
           WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id FOR KEY SHARE;

-- statement sub_accounts_lock_for_split
SELECT id AS "subAccountId", name, active, percent_hundredths AS "percentHundredths" FROM sub_accounts
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR KEY SHARE;

-- statement sub_accounts_lock_members_to_be
SELECT id, name FROM sub_accounts
           WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND deleted_at IS NULL ORDER BY id FOR KEY SHARE;

-- statement sub_accounts_mark_deleted
UPDATE sub_accounts SET deleted_at = $3, updated_at = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement sub_accounts_update
UPDATE sub_accounts
           SET name = $3, percent_hundredths = $4, settlement_code = $5, account_number = $6, account_canonical = $7,
               active = $8, updated_at = $9
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement telegram_chats_delete
DELETE FROM telegram_chats WHERE number = $1 AND chat_id = $2;

-- statement telegram_chats_delete_of
DELETE FROM telegram_chats WHERE chat_id = $1;

-- statement telegram_chats_find
SELECT chat_id AS "chatId" FROM telegram_chats WHERE number = $1;

-- statement telegram_chats_move
UPDATE telegram_chats SET chat_id = $3 WHERE number = $1 AND chat_id = $2;

-- statement telegram_chats_upsert
INSERT INTO telegram_chats (number, chat_id, linked_at) VALUES ($1, $2, $3)
           ON CONFLICT (number) DO UPDATE SET chat_id = EXCLUDED.chat_id, linked_at = EXCLUDED.linked_at;

-- statement terminal_codes_find
-- across merchants: a code is typed before anybody knows whose counter it is at
           SELECT merchant_id AS "merchantId", terminal_id AS "terminalId" FROM terminal_codes WHERE code = $1;

-- statement terminal_codes_take
INSERT INTO terminal_codes (code, merchant_id, terminal_id) VALUES ($1, $2, $3)
           ON CONFLICT (code) DO NOTHING;

-- statement transactions_takings_of_terminal
SELECT charges.network, date_trunc('hour', charges.paid_at, 'UTC') AS hour, count(*) AS count,
             sum(COALESCE(charges.amount_received, charges.amount_paid))::bigint AS "paidMinor",
             sum(charges.amount_refunded)::bigint AS "refundedMinor"
           FROM payment_intents AS intents
           JOIN charges ON charges.merchant_id = intents.merchant_id AND charges.intent_id = intents.id
           WHERE intents.merchant_id = $1 AND intents.terminal_id = $2
             AND charges.status IN ('completed', 'refunded') AND charges.paid_at >= $3 AND charges.paid_at < $4
           GROUP BY hour, charges.network
           ORDER BY hour, charges.network;

-- statement transfer_days_add
INSERT INTO transfer_days (merchant_id, day, currency, amount) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, day, currency) DO UPDATE SET amount = transfer_days.amount + excluded.amount;

-- statement transfer_days_count
INSERT INTO transfer_days (merchant_id, day, currency, amount) VALUES ($1, $2, $3, $4)
           ON CONFLICT (merchant_id, day, currency) DO UPDATE SET amount = transfer_days.amount + excluded.amount
             WHERE transfer_days.amount + excluded.amount <= $5;

-- statement transfer_days_read
SELECT amount FROM transfer_days WHERE merchant_id = $1 AND day = $2 AND currency = $3;

-- statement transfer_days_take
UPDATE transfer_days SET amount = amount - $4 WHERE merchant_id = $1 AND day = $2 AND currency = $3;

-- statement transfer_limits_delete
DELETE FROM transfer_limits WHERE merchant_id = $1 AND kind = $2;

-- statement transfer_limits_upsert
INSERT INTO transfer_limits (merchant_id, kind, amount) VALUES ($1, $2, $3)
           ON CONFLICT (merchant_id, kind) DO UPDATE SET amount = excluded.amount;

-- statement transfer_notes_insert
INSERT INTO transfer_notes (merchant_id, transfer_id, id, kind, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6);

-- statement transfer_notes_list
SELECT * FROM (
             SELECT merchant_id AS "merchantId", transfer_id AS "transferId", id, kind, detail, created_at AS "createdAt"
             FROM transfer_notes WHERE merchant_id = $1 AND transfer_id = $2 ORDER BY id DESC LIMIT 500
           ) AS newest ORDER BY id;

-- statement transfers_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund'   LIMIT $2
           ) AS counted;

-- statement transfers_count_from
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND transfers.created_at >= $2  LIMIT $3
           ) AS counted;

-- statement transfers_count_status
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2  LIMIT $3
           ) AS counted;

-- statement transfers_count_status_from_to
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2 AND transfers.created_at >= $3 AND transfers.created_at <= $4  LIMIT $5
           ) AS counted;

-- statement transfers_count_status_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2 AND (account_number ILIKE ANY ($3::text[]) OR account_canonical ILIKE ANY ($3::text[]) OR beneficiary_name ILIKE ANY ($3::text[]) OR narration ILIKE ANY ($3::text[]) OR reference ILIKE ANY ($3::text[]) OR network_reference ILIKE ANY ($3::text[]) OR network_transaction_id ILIKE ANY ($3::text[]) OR id::text ILIKE ANY ($3::text[]))  LIMIT $4
           ) AS counted;

-- statement transfers_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND (account_number ILIKE ANY ($2::text[]) OR account_canonical ILIKE ANY ($2::text[]) OR beneficiary_name ILIKE ANY ($2::text[]) OR narration ILIKE ANY ($2::text[]) OR reference ILIKE ANY ($2::text[]) OR network_reference ILIKE ANY ($2::text[]) OR network_transaction_id ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement transfers_count_to
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND transfers.created_at <= $2  LIMIT $3
           ) AS counted;

-- statement transfers_find_by_id
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND id = $2;

-- statement transfers_find_by_reference
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND reference = $2;

-- statement transfers_insert
INSERT INTO transfers (merchant_id, id, kind, status, amount, fee, currency, network, account_number,
             account_canonical, beneficiary_name, narration, callback_url, metadata, sub_account_id, route,
             original_reference, reference, progress, sends, event_sequence, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
             $22);

-- statement transfers_list_all
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement transfers_list_before
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement transfers_list_from
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND transfers.created_at >= $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement transfers_list_status
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement transfers_list_status_from_to
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2 AND transfers.created_at >= $3 AND transfers.created_at <= $4
           ORDER BY id DESC LIMIT $5 OFFSET $6;

-- statement transfers_list_status_term
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND status = $2 AND (account_number ILIKE ANY ($3::text[]) OR account_canonical ILIKE ANY ($3::text[]) OR beneficiary_name ILIKE ANY ($3::text[]) OR narration ILIKE ANY ($3::text[]) OR reference ILIKE ANY ($3::text[]) OR network_reference ILIKE ANY ($3::text[]) OR network_transaction_id ILIKE ANY ($3::text[]) OR id::text ILIKE ANY ($3::text[]))
           ORDER BY id DESC LIMIT $4 OFFSET $5;

-- statement transfers_list_term
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND (account_number ILIKE ANY ($2::text[]) OR account_canonical ILIKE ANY ($2::text[]) OR beneficiary_name ILIKE ANY ($2::text[]) OR narration ILIKE ANY ($2::text[]) OR reference ILIKE ANY ($2::text[]) OR network_reference ILIKE ANY ($2::text[]) OR network_transaction_id ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement transfers_list_to
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND kind <> 'refund' AND transfers.created_at <= $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement transfers_lock
SELECT merchant_id AS "merchantId", id, kind, status, amount AS "amountMinor", fee AS "feeMinor", currency,
  network, account_number AS "accountNumber", account_canonical AS "accountCanonical",
  beneficiary_name AS "beneficiaryName", narration, callback_url AS "callbackUrl", metadata, sub_account_id AS "subAccountId",
  route, original_reference AS "originalReference", reference,
  network_reference AS "networkReference", network_transaction_id AS "networkTransactionId",
  amount_reversed AS "amountReversedMinor", network_handles AS "networkHandles", progress, sends, sent_at AS "sentAt", waiting_for AS "waitingFor",
  failure_code AS "failureCode", failure_reason AS "failureReason", review, event_sequence AS "eventSequence",
  created_at AS "createdAt", updated_at AS "updatedAt", completed_at AS "completedAt" FROM transfers WHERE merchant_id = $1 AND id = $2 FOR UPDATE;

-- statement transfers_unmatched_hold
-- across merchants: the verification reads everybody's
           WITH held AS (
             SELECT merchant_id, source_id AS id, amount FROM ledger_holds
             WHERE status = 'open' AND source_type = 'transfer'
           ), required AS (
             SELECT merchant_id, id, amount + fee AS amount FROM transfers
             WHERE status = 'pending' AND review IS DISTINCT FROM 'amount_mismatch'
           )
           SELECT merchant_id AS "merchantId", id, held.amount AS "heldMinor", required.amount AS "requiredMinor"
           FROM held FULL JOIN required USING (merchant_id, id)
           WHERE held.amount IS DISTINCT FROM required.amount
           ORDER BY merchant_id, id LIMIT 1;

-- statement transfers_update
UPDATE transfers
           SET status = $4, progress = $5, sends = $6, sent_at = $7, waiting_for = $8, network_reference = $9,
               network_transaction_id = $10, network_handles = $11, failure_code = $12, failure_reason = $13,
               review = $14, event_sequence = $15, updated_at = $16, completed_at = $17, amount_reversed = $18
           WHERE merchant_id = $1 AND id = $2 AND status = $3;

-- statement virtual_terminals_count_all
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL   LIMIT $2
           ) AS counted;

-- statement virtual_terminals_count_term
SELECT count(*) AS count FROM (
             SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR code ILIKE ANY ($2::text[]) OR array_to_string(chat_numbers, ' ') ILIKE ANY ($2::text[]) OR array_to_string(chat_canonical, ' ') ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))  LIMIT $3
           ) AS counted;

-- statement virtual_terminals_find
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND id = $2;

-- statement virtual_terminals_insert
INSERT INTO virtual_terminals (merchant_id, id, name, code, chat_numbers, chat_canonical, active, created_at,
             updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, NULL);

-- statement virtual_terminals_list_all
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL 
           ORDER BY id DESC LIMIT $2 OFFSET $3;

-- statement virtual_terminals_list_before
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL AND id < $2
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement virtual_terminals_list_term
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals WHERE merchant_id = $1 AND deleted_at IS NULL AND (name ILIKE ANY ($2::text[]) OR code ILIKE ANY ($2::text[]) OR array_to_string(chat_numbers, ' ') ILIKE ANY ($2::text[]) OR array_to_string(chat_canonical, ' ') ILIKE ANY ($2::text[]) OR id::text ILIKE ANY ($2::text[]))
           ORDER BY id DESC LIMIT $3 OFFSET $4;

-- statement virtual_terminals_lock_for_change
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement virtual_terminals_mark_deleted
UPDATE virtual_terminals SET deleted_at = $3, updated_at = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement virtual_terminals_update
UPDATE virtual_terminals
           SET name = $3, chat_numbers = $4, chat_canonical = $5, active = $6, updated_at = $7
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement virtual_terminals_update_rate_limit
UPDATE virtual_terminals SET rate_limit = $3
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement virtual_terminals_with_rate_limit
SELECT merchant_id AS "merchantId", id, name, code, chat_numbers AS "chatNumbers",
  chat_canonical AS "chatCanonical", active, created_at AS "createdAt", updated_at AS "updatedAt", rate_limit AS "rateLimit",
  deleted_at AS "deletedAt" FROM virtual_terminals
           WHERE merchant_id = $1 AND rate_limit IS NOT NULL AND deleted_at IS NULL ORDER BY id LIMIT $2;

-- statement webhook_attempts_delete_old
DELETE FROM webhook_attempts WHERE merchant_id = $1 AND ctid = ANY (ARRAY(
             SELECT ctid FROM webhook_attempts
             WHERE merchant_id = $1 AND delivery_id < $2 AND created_at < $3
             ORDER BY delivery_id, attempt LIMIT 500
           ));

-- statement webhook_attempts_insert_1
INSERT INTO webhook_attempts (merchant_id, delivery_id, attempt, status_code, failure, duration_ms, response,
             created_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- statement webhook_attempts_merchants_with_old
-- across merchants: retention is the same for all
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT delivery_id FROM webhook_attempts
             WHERE webhook_attempts.merchant_id = merchants.id AND delivery_id < $1
               AND webhook_attempts.created_at < $2
             ORDER BY delivery_id, attempt LIMIT 1
           ) AS oldest LIMIT 20;

-- statement webhook_attempts_of_deliveries
SELECT tries.* FROM unnest($2::uuid[]) AS wanted (id)
           CROSS JOIN LATERAL (
             SELECT delivery_id AS "deliveryId", attempt, created_at AS "sentAt", status_code AS "statusCode", failure,
                    duration_ms AS "durationMs", response
             FROM webhook_attempts WHERE merchant_id = $1 AND delivery_id = wanted.id
             ORDER BY attempt DESC LIMIT 100
           ) AS tries
           ORDER BY tries."deliveryId", tries.attempt;

-- statement webhook_deliveries_claim_callback
WITH due AS (
            SELECT id FROM (
              SELECT id FROM webhook_deliveries
              WHERE merchant_id = $1 AND callback_url IS NOT NULL AND next_attempt_at <= $2
              ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED
            ) AS longest LIMIT 128
          ), claimed AS (
            UPDATE webhook_deliveries
            SET next_attempt_at = $3, attempts = webhook_deliveries.attempts + 1
            FROM due WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = due.id
            RETURNING webhook_deliveries.id, webhook_deliveries.event_id, webhook_deliveries.callback_url,
                      webhook_deliveries.attempts, webhook_deliveries.attempts_before
          )
          SELECT claimed.id, claimed.attempts AS attempt, claimed.attempts - claimed.attempts_before AS "tryNumber",
                 claimed.callback_url AS "callbackUrl", events.id AS "eventId", events.kind,
                 events.created_at AS "createdAt", events.sequence, events.request_id AS "requestId",
                 events.record::text AS "recordText"
          FROM claimed JOIN events ON events.merchant_id = $1 AND events.id = claimed.event_id;

-- statement webhook_deliveries_claim_own
WITH due AS (
            SELECT id FROM (
              SELECT id FROM webhook_deliveries
              WHERE merchant_id = $1 AND endpoint_id = $5 AND callback_url IS NULL AND (SELECT true FROM webhook_endpoints
  WHERE webhook_endpoints.merchant_id = $1 AND webhook_endpoints.id = $5 AND status = 'enabled' AND url IS NOT NULL
    AND deleted_at IS NULL) AND next_attempt_at <= $2
              ORDER BY next_attempt_at LIMIT $4 FOR UPDATE SKIP LOCKED
            ) AS longest LIMIT 128
          ), claimed AS (
            UPDATE webhook_deliveries
            SET next_attempt_at = $3, attempts = webhook_deliveries.attempts + 1
            FROM due WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = due.id
            RETURNING webhook_deliveries.id, webhook_deliveries.event_id, webhook_deliveries.callback_url,
                      webhook_deliveries.attempts, webhook_deliveries.attempts_before
          )
          SELECT claimed.id, claimed.attempts AS attempt, claimed.attempts - claimed.attempts_before AS "tryNumber",
                 claimed.callback_url AS "callbackUrl", events.id AS "eventId", events.kind,
                 events.created_at AS "createdAt", events.sequence, events.request_id AS "requestId",
                 events.record::text AS "recordText"
          FROM claimed JOIN events ON events.merchant_id = $1 AND events.id = claimed.event_id;

-- statement webhook_deliveries_count_pending
-- across merchants: the operator watches all of them
           SELECT (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NULL)
             + (SELECT count(*) FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL AND callback_url IS NOT NULL)
             AS count;

-- statement webhook_deliveries_delete_of_events
DELETE FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[]);

-- statement webhook_deliveries_endpoints_of_event
SELECT endpoint_id AS id FROM webhook_deliveries
           WHERE merchant_id = $1 AND event_id = $2 AND callback_url IS NULL;

-- statement webhook_deliveries_insert_once
INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
             next_attempt_at, created_at, delivered_at)
           VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8, NULL)
           ON CONFLICT DO NOTHING;

-- statement webhook_deliveries_keep_pending
WITH pending AS (
             SELECT id FROM webhook_deliveries
             WHERE merchant_id = $1 AND endpoint_id = $2 AND callback_url IS NULL AND next_attempt_at IS NOT NULL
               AND status = 'pending'
             ORDER BY next_attempt_at LIMIT 10000
           )
           UPDATE webhook_deliveries SET status = 'kept', next_attempt_at = NULL
           FROM pending
           WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = pending.id
             AND webhook_deliveries.status = 'pending';

-- statement webhook_deliveries_lock_of_events
SELECT event_id AS "eventId", status FROM webhook_deliveries
           WHERE merchant_id = $1 AND event_id = ANY ($2::uuid[]) FOR UPDATE;

-- statement webhook_deliveries_mark_attempts_failed
UPDATE webhook_deliveries SET status = ended.status, next_attempt_at = ended.next_attempt_at
           FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::timestamptz[])
             AS ended (id, attempt, status, next_attempt_at)
           WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = ended.id
             AND webhook_deliveries.attempts = ended.attempt AND webhook_deliveries.status = 'pending';

-- statement webhook_deliveries_mark_delivered
UPDATE webhook_deliveries SET status = 'delivered', next_attempt_at = NULL, delivered_at = ended.delivered_at
           FROM unnest($2::uuid[], $3::bigint[], $4::timestamptz[]) AS ended (id, attempt, delivered_at)
           WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = ended.id
             AND webhook_deliveries.attempts = ended.attempt AND webhook_deliveries.status IN ('pending', 'kept');

-- statement webhook_deliveries_of_events
SELECT sent.* FROM unnest($2::uuid[]) AS wanted (id)
           CROSS JOIN LATERAL (
             SELECT id, event_id AS "eventId", endpoint_id AS "endpointId", callback_url AS "callbackUrl", status, attempts,
                    next_attempt_at AS "nextAttemptAt", delivered_at AS "deliveredAt"
             FROM webhook_deliveries WHERE merchant_id = $1 AND event_id = wanted.id
             ORDER BY id DESC LIMIT 100
           ) AS sent
           ORDER BY sent.id;

-- statement webhook_deliveries_put_back
UPDATE webhook_deliveries SET attempts = webhook_deliveries.attempts - 1, next_attempt_at = $4
           FROM unnest($2::uuid[], $3::bigint[]) AS unsent (id, attempt)
           WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.id = unsent.id
             AND webhook_deliveries.attempts = unsent.attempt AND webhook_deliveries.status = 'pending';

-- statement webhook_deliveries_queues_due
-- across merchants: a worker looks for whoever has something to send
           SELECT * FROM (
             SELECT merchant_id AS "merchantId", id, (SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND webhook_deliveries.endpoint_id = webhook_endpoints.id
    AND callback_url IS NULL AND next_attempt_at IS NOT NULL
  ORDER BY next_attempt_at LIMIT 1) <= $1 AS "ownDue",
                    is_default AND (SELECT next_attempt_at FROM webhook_deliveries
  WHERE webhook_deliveries.merchant_id = webhook_endpoints.merchant_id
    AND callback_url IS NOT NULL AND next_attempt_at IS NOT NULL
  ORDER BY next_attempt_at LIMIT 1) <= $1 AS "callbackDue"
             FROM webhook_endpoints OFFSET 0
           ) AS endpoints
           WHERE "ownDue" OR "callbackDue";

-- statement webhook_endpoints_count
SELECT count(*) AS count FROM webhook_endpoints WHERE merchant_id = $1 AND deleted_at IS NULL;

-- statement webhook_endpoints_count_secrets_by_key
-- across merchants: all share one seal key
           SELECT "keyId", count(*) AS count FROM (
             SELECT encode(substring(secret from 2 for 4), 'hex') AS "keyId" FROM webhook_endpoints
             UNION ALL
             SELECT encode(substring(previous_secret from 2 for 4), 'hex') FROM webhook_endpoints WHERE previous_secret IS NOT NULL
           ) AS keys GROUP BY 1;

-- statement webhook_endpoints_disable
UPDATE webhook_endpoints SET status = 'disabled', disabled_reason = $5, updated_at = $4
           WHERE merchant_id = $1 AND id = $2 AND url = $3 AND status = 'enabled' AND deleted_at IS NULL;

-- statement webhook_endpoints_find
SELECT merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM webhook_endpoints
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL;

-- statement webhook_endpoints_insert
INSERT INTO webhook_endpoints (merchant_id, id, url, description, kinds, status, disabled_reason, is_default,
             secret, previous_secret, previous_secret_expires_at, created_at, updated_at, deleted_at)
           VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, NULL);

-- statement webhook_endpoints_is_known
SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND id = $2;

-- statement webhook_endpoints_list
SELECT merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM webhook_endpoints
           WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id DESC;

-- statement webhook_endpoints_list_for_fan_out
SELECT merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM webhook_endpoints
           WHERE merchant_id = $1 AND deleted_at IS NULL ORDER BY id;

-- statement webhook_endpoints_lock
SELECT merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM webhook_endpoints
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE;

-- statement webhook_endpoints_lock_default
SELECT id FROM webhook_endpoints WHERE merchant_id = $1 AND is_default FOR NO KEY UPDATE;

-- statement webhook_endpoints_mark_deleted
UPDATE webhook_endpoints SET deleted_at = $3, updated_at = $3 WHERE merchant_id = $1 AND id = $2;

-- statement webhook_endpoints_newest_secrets
-- across merchants: all share one seal key
           SELECT merchant_id AS "merchantId", id, secret, previous_secret AS "previousSecret" FROM webhook_endpoints ORDER BY updated_at DESC LIMIT 1;

-- statement webhook_endpoints_replace_previous_secret
UPDATE webhook_endpoints SET previous_secret = $4
           WHERE merchant_id = $1 AND id = $2 AND previous_secret = $3;

-- statement webhook_endpoints_replace_secret
UPDATE webhook_endpoints SET secret = $4 WHERE merchant_id = $1 AND id = $2 AND secret = $3;

-- statement webhook_endpoints_secrets_under_other_keys
-- across merchants: all share one seal key
           SELECT merchant_id AS "merchantId", id, secret, previous_secret AS "previousSecret" FROM webhook_endpoints
           WHERE (encode(substring(secret from 2 for 4), 'hex') <> $1 OR encode(substring(previous_secret from 2 for 4), 'hex') <> $1)
             AND ($2::uuid IS NULL OR (merchant_id, id) > ($2, $3::uuid))
           ORDER BY merchant_id, id LIMIT $4;

-- statement webhook_endpoints_share
SELECT merchant_id AS "merchantId", id, url, description, kinds, status,
  disabled_reason AS "disabledReason", is_default AS "isDefault", secret, previous_secret AS "previousSecret",
  previous_secret_expires_at AS "previousSecretExpiresAt", created_at AS "createdAt", updated_at AS "updatedAt" FROM webhook_endpoints
           WHERE merchant_id = $1 AND id = $2 AND deleted_at IS NULL FOR SHARE;

-- statement webhook_endpoints_update
UPDATE webhook_endpoints
           SET url = $3, description = $4, kinds = $5, status = $6, disabled_reason = $7, secret = $8,
               previous_secret = $9, previous_secret_expires_at = $10, updated_at = $11
           WHERE merchant_id = $1 AND id = $2;

-- statement webhook_events_count_after
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id > $2 ORDER BY events.id ASC LIMIT $3
           ) AS counted;

-- statement webhook_events_count_after_kind
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id > $2 AND events.kind = $3 ORDER BY events.id ASC LIMIT $4
           ) AS counted;

-- statement webhook_events_count_all
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1  ORDER BY events.id DESC LIMIT $2
           ) AS counted;

-- statement webhook_events_count_from_from_id
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at >= $2 AND events.id >= $3 ORDER BY events.id DESC LIMIT $4
           ) AS counted;

-- statement webhook_events_count_from_to_from_id_to_id
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at >= $2 AND events.created_at <= $3 AND events.id >= $4 AND events.id < $5 ORDER BY events.id DESC LIMIT $6
           ) AS counted;

-- statement webhook_events_count_kind
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2 ORDER BY events.id DESC LIMIT $3
           ) AS counted;

-- statement webhook_events_count_kind_object
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2 AND events.object_id = $3 ORDER BY events.id DESC LIMIT $4
           ) AS counted;

-- statement webhook_events_count_kind_sent_there_status
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $3 AND sent.status = $4 LIMIT 1) ORDER BY events.id DESC LIMIT $5
           ) AS counted;

-- statement webhook_events_count_object
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.object_id = $2 ORDER BY events.id DESC LIMIT $3
           ) AS counted;

-- statement webhook_events_count_sent_status
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id  AND sent.status = $2 LIMIT 1) ORDER BY events.id DESC LIMIT $3
           ) AS counted;

-- statement webhook_events_count_sent_there
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $2  LIMIT 1) ORDER BY events.id DESC LIMIT $3
           ) AS counted;

-- statement webhook_events_count_sent_there_status
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $2 AND sent.status = $3 LIMIT 1) ORDER BY events.id DESC LIMIT $4
           ) AS counted;

-- statement webhook_events_count_to_to_id
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at <= $2 AND events.id < $3 ORDER BY events.id DESC LIMIT $4
           ) AS counted;

-- statement webhook_events_delete
DELETE FROM events WHERE merchant_id = $1 AND id = ANY ($2::uuid[]);

-- statement webhook_events_find
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE merchant_id = $1 AND id = $2;

-- statement webhook_events_list_after
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id > $2
           ORDER BY events.id ASC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_after_before
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id > $2 AND events.id > $3
           ORDER BY events.id ASC LIMIT $4 OFFSET $5;

-- statement webhook_events_list_after_kind
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id > $2 AND events.kind = $3
           ORDER BY events.id ASC LIMIT $4 OFFSET $5;

-- statement webhook_events_list_all
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 
           ORDER BY events.id DESC LIMIT $2 OFFSET $3;

-- statement webhook_events_list_before
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.id < $2
           ORDER BY events.id DESC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_from_from_id
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at >= $2 AND events.id >= $3
           ORDER BY events.id DESC LIMIT $4 OFFSET $5;

-- statement webhook_events_list_from_to_from_id_to_id
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at >= $2 AND events.created_at <= $3 AND events.id >= $4 AND events.id < $5
           ORDER BY events.id DESC LIMIT $6 OFFSET $7;

-- statement webhook_events_list_kind
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2
           ORDER BY events.id DESC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_kind_object
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2 AND events.object_id = $3
           ORDER BY events.id DESC LIMIT $4 OFFSET $5;

-- statement webhook_events_list_kind_sent_there_status
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.kind = $2 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $3 AND sent.status = $4 LIMIT 1)
           ORDER BY events.id DESC LIMIT $5 OFFSET $6;

-- statement webhook_events_list_object
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.object_id = $2
           ORDER BY events.id DESC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_sent_status
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id  AND sent.status = $2 LIMIT 1)
           ORDER BY events.id DESC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_sent_there
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $2  LIMIT 1)
           ORDER BY events.id DESC LIMIT $3 OFFSET $4;

-- statement webhook_events_list_sent_there_status
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND (SELECT true FROM webhook_deliveries AS sent
                 WHERE sent.merchant_id = $1 AND sent.event_id = events.id AND sent.callback_url IS NULL AND sent.endpoint_id = $2 AND sent.status = $3 LIMIT 1)
           ORDER BY events.id DESC LIMIT $4 OFFSET $5;

-- statement webhook_events_list_to_fan_out
SELECT id, kind, callback_url AS "callbackUrl" FROM events
           WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) ORDER BY id;

-- statement webhook_events_list_to_to_id
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE events.merchant_id = $1 AND events.created_at <= $2 AND events.id < $3
           ORDER BY events.id DESC LIMIT $4 OFFSET $5;

-- statement webhook_events_lock_old
SELECT id FROM events WHERE merchant_id = $1 AND id < $2 AND (SELECT webhook_deliveries.id FROM webhook_deliveries
    WHERE webhook_deliveries.merchant_id = $1 AND webhook_deliveries.event_id = events.id
      AND webhook_deliveries.status = 'pending' LIMIT 1) IS NULL
  AND (SELECT outbox.subject_id FROM outbox
    WHERE outbox.merchant_id = $1 AND outbox.kind = 'dispatch_event'
      AND outbox.subject_id = events.id) IS NULL
           ORDER BY id LIMIT 200 FOR UPDATE SKIP LOCKED;

-- statement webhook_events_merchants_with_old
-- across merchants: retention is the same for all
           SELECT merchants.id FROM merchants CROSS JOIN LATERAL (
             SELECT events.id FROM events
             WHERE events.merchant_id = merchants.id AND events.id < $1 AND (SELECT webhook_deliveries.id FROM webhook_deliveries
    WHERE webhook_deliveries.merchant_id = merchants.id AND webhook_deliveries.event_id = events.id
      AND webhook_deliveries.status = 'pending' LIMIT 1) IS NULL
  AND (SELECT outbox.subject_id FROM outbox
    WHERE outbox.merchant_id = merchants.id AND outbox.kind = 'dispatch_event'
      AND outbox.subject_id = events.id) IS NULL
             ORDER BY events.id LIMIT 1
           ) AS oldest LIMIT 20;

-- statement webhook_events_share
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM events WHERE merchant_id = $1 AND id = $2 FOR KEY SHARE;

-- statement webhook_health_forget_failing
UPDATE webhook_endpoint_health SET failing_since = NULL, warned_at = NULL
           WHERE merchant_id = $1 AND endpoint_id = $2;

-- statement webhook_health_list
SELECT wanted.id AS "endpointId", health.last_success_at AS "lastSuccessAt",
                  health.failing_since AS "failingSince", health.last_failure AS "lastFailure",
                  waiting.pending, missed.kept, missed.failed
           FROM unnest($2::uuid[]) AS wanted (id)
           LEFT JOIN webhook_endpoint_health AS health
             ON health.merchant_id = $1 AND health.endpoint_id = wanted.id
           CROSS JOIN LATERAL (
             SELECT count(*) AS pending FROM (
               SELECT 1 FROM webhook_deliveries
               WHERE merchant_id = $1 AND endpoint_id = wanted.id AND callback_url IS NULL
                 AND next_attempt_at IS NOT NULL
               ORDER BY next_attempt_at LIMIT 10001
             ) AS first
           ) AS waiting
           CROSS JOIN LATERAL (
             SELECT count(*) FILTER (WHERE status = 'kept') AS kept,
                    count(*) FILTER (WHERE status = 'failed') AS failed
             FROM (
               SELECT status FROM webhook_deliveries
               WHERE merchant_id = $1 AND endpoint_id = wanted.id AND callback_url IS NULL
                 AND status IN ('kept', 'failed')
               ORDER BY event_id DESC LIMIT 10001
             ) AS newest
           ) AS missed;

-- statement webhook_health_lock
SELECT failing_since AS "failingSince", warned_at AS "warnedAt" FROM webhook_endpoint_health
           WHERE merchant_id = $1 AND endpoint_id = $2 FOR NO KEY UPDATE;

-- statement webhook_health_mark_warned
UPDATE webhook_endpoint_health SET warned_at = $3 WHERE merchant_id = $1 AND endpoint_id = $2;

-- statement webhook_health_note
INSERT INTO webhook_endpoint_health (merchant_id, endpoint_id, last_success_at, failing_since, last_failure,
             warned_at, event_sequence)
           VALUES ($1, $2, $3, $4, $5, NULL, 0)
           ON CONFLICT (merchant_id, endpoint_id) DO UPDATE
           SET last_success_at = GREATEST(webhook_endpoint_health.last_success_at, excluded.last_success_at),
               failing_since = CASE WHEN excluded.last_success_at IS NULL
                 THEN COALESCE(webhook_endpoint_health.failing_since, excluded.failing_since)
                 ELSE excluded.failing_since END,
               last_failure = COALESCE(excluded.last_failure, webhook_endpoint_health.last_failure),
               warned_at = CASE WHEN excluded.last_success_at IS NULL THEN webhook_endpoint_health.warned_at END
           RETURNING failing_since AS "failingSince", warned_at AS "warnedAt";

-- statement webhook_health_raise_sequence
INSERT INTO webhook_endpoint_health (merchant_id, endpoint_id, event_sequence) VALUES ($1, $2, 1)
           ON CONFLICT (merchant_id, endpoint_id)
           DO UPDATE SET event_sequence = webhook_endpoint_health.event_sequence + 1
           RETURNING event_sequence AS sequence;

-- statement webhook_missed_events_count_missed_status
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 ORDER BY missed.event_id DESC LIMIT $4
           ) AS counted;

-- statement webhook_missed_events_count_missed_status_from_from_id
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 AND events.created_at >= $4 AND missed.event_id >= $5 ORDER BY missed.event_id DESC LIMIT $6
           ) AS counted;

-- statement webhook_missed_events_count_missed_status_from_to_from_id_to_id
SELECT count(*) AS count FROM (
             SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 AND events.created_at >= $4 AND events.created_at <= $5 AND missed.event_id >= $6 AND missed.event_id < $7 ORDER BY missed.event_id DESC LIMIT $8
           ) AS counted;

-- statement webhook_missed_events_list_missed_status
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3
           ORDER BY missed.event_id DESC LIMIT $4 OFFSET $5;

-- statement webhook_missed_events_list_missed_status_before
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 AND missed.event_id < $4
           ORDER BY missed.event_id DESC LIMIT $5 OFFSET $6;

-- statement webhook_missed_events_list_missed_status_from_from_id
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 AND events.created_at >= $4 AND missed.event_id >= $5
           ORDER BY missed.event_id DESC LIMIT $6 OFFSET $7;

-- statement webhook_missed_events_list_missed_status_from_to_from_id_to_id
SELECT events.id, events.kind, events.created_at AS "createdAt", events.sequence,
  events.object_id AS "objectId", events.callback_url AS "callbackUrl",
  events.request_id AS "requestId", events.record::text AS "recordText" FROM webhook_deliveries AS missed
  JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
  WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.endpoint_id = $2 AND missed.status IN ('kept', 'failed') AND missed.status = $3 AND events.created_at >= $4 AND events.created_at <= $5 AND missed.event_id >= $6 AND missed.event_id < $7
           ORDER BY missed.event_id DESC LIMIT $8 OFFSET $9;

-- statement webhook_resends_all_endpoint_from_from_id_kinds
SELECT events.id, events.created_at AS "createdAt" FROM events
           WHERE events.merchant_id = $1 AND (events.kind <> 'webhook_endpoint.test' OR events.object_id = $2) AND events.created_at >= $3 AND events.id >= $4 AND events.kind = ANY ($5::text[])
           ORDER BY events.id LIMIT $6;

-- statement webhook_resends_missed_endpoint_from_from_id
SELECT events.id, events.created_at AS "createdAt" FROM webhook_deliveries AS missed
           JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
           WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.status IN ('kept', 'failed')
             AND (missed.endpoint_id = $2) AND events.created_at >= $3 AND missed.event_id >= $4
           ORDER BY missed.event_id LIMIT $5;

-- statement webhook_resends_missed_endpoint_from_from_id_kinds
SELECT events.id, events.created_at AS "createdAt" FROM webhook_deliveries AS missed
           JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
           WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.status IN ('kept', 'failed')
             AND (missed.endpoint_id = $2) AND events.created_at >= $3 AND missed.event_id >= $4 AND events.kind = ANY ($5::text[])
           ORDER BY missed.event_id LIMIT $6;

-- statement webhook_resends_missed_endpoint_from_to_from_id_to_id
SELECT events.id, events.created_at AS "createdAt" FROM webhook_deliveries AS missed
           JOIN events ON events.merchant_id = missed.merchant_id AND events.id = missed.event_id
           WHERE missed.merchant_id = $1 AND missed.callback_url IS NULL AND missed.status IN ('kept', 'failed')
             AND (missed.endpoint_id = $2) AND events.created_at >= $3 AND events.created_at <= $4 AND missed.event_id >= $5 AND missed.event_id < $6
           ORDER BY missed.event_id LIMIT $7;

-- statement webhook_resends_under_way
SELECT event_id AS id FROM webhook_deliveries
           WHERE merchant_id = $1 AND event_id = ANY ($3::uuid[]) AND endpoint_id = $4 AND callback_url IS NULL
             AND webhook_deliveries.status = 'pending'
  AND (webhook_deliveries.next_attempt_at <= $2 OR NOT ((
  SELECT true FROM webhook_attempts
  WHERE webhook_attempts.merchant_id = $1 AND webhook_attempts.delivery_id = webhook_deliveries.id
    AND webhook_attempts.attempt = webhook_deliveries.attempts) IS NOT NULL));

-- statement webhook_resends_upsert_1
INSERT INTO webhook_deliveries (merchant_id, id, event_id, endpoint_id, callback_url, status, attempts,
             attempts_before, next_attempt_at, created_at, delivered_at)
           VALUES ($1, $4, $5, $6, $7, 'pending', 0, 0, $2, $2, NULL)
           ON CONFLICT (merchant_id, event_id, endpoint_id, (callback_url IS NULL)) DO UPDATE
           SET status = 'pending', next_attempt_at = excluded.next_attempt_at, delivered_at = NULL,
               attempts = webhook_deliveries.attempts + CASE
  WHEN webhook_deliveries.status = 'kept' AND webhook_deliveries.attempts > webhook_deliveries.attempts_before
    AND NOT ((
  SELECT true FROM webhook_attempts
  WHERE webhook_attempts.merchant_id = $1 AND webhook_attempts.delivery_id = webhook_deliveries.id
    AND webhook_attempts.attempt = webhook_deliveries.attempts) IS NOT NULL) THEN 1 ELSE 0 END, attempts_before = webhook_deliveries.attempts + CASE
  WHEN webhook_deliveries.status = 'kept' AND webhook_deliveries.attempts > webhook_deliveries.attempts_before
    AND NOT ((
  SELECT true FROM webhook_attempts
  WHERE webhook_attempts.merchant_id = $1 AND webhook_attempts.delivery_id = webhook_deliveries.id
    AND webhook_attempts.attempt = webhook_deliveries.attempts) IS NOT NULL) THEN 1 ELSE 0 END
           WHERE webhook_deliveries.status = ANY ($3::text[]) AND NOT (webhook_deliveries.status = 'pending'
  AND (webhook_deliveries.next_attempt_at <= $2 OR NOT ((
  SELECT true FROM webhook_attempts
  WHERE webhook_attempts.merchant_id = $1 AND webhook_attempts.delivery_id = webhook_deliveries.id
    AND webhook_attempts.attempt = webhook_deliveries.attempts) IS NOT NULL)));

-- statement webhook_targets_find
SELECT merchant_id AS "merchantId", id, url, status, deleted_at IS NOT NULL AS deleted, secret,
                  previous_secret AS "previousSecret", previous_secret_expires_at AS "previousSecretExpiresAt",
                  (SELECT merchants.test_mode FROM merchants WHERE merchants.id = $1) AS "testMode"
           FROM webhook_endpoints WHERE merchant_id = $1 AND id = $2;

-- statement webhook_targets_find_default
SELECT merchant_id AS "merchantId", id, url, status, deleted_at IS NOT NULL AS deleted, secret,
                  previous_secret AS "previousSecret", previous_secret_expires_at AS "previousSecretExpiresAt",
                  (SELECT merchants.test_mode FROM merchants WHERE merchants.id = $1) AS "testMode"
           FROM webhook_endpoints WHERE merchant_id = $1 AND is_default;

-- statement write_probes_little_memory
SELECT set_config('work_mem', '64kB', true);

-- statement write_probes_spill
SELECT count(*) FROM generate_series(1, 20000);

-- statement write_probes_upsert
INSERT INTO write_probes (slot, written_at) VALUES ($1, $2)
           ON CONFLICT (slot) DO UPDATE SET written_at = excluded.written_at;
