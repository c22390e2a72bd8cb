import { outboundCall, commit, since, statements, autocommit } from './crash-points.ts';

// The path from a booked change to the merchant's server, the same for all records.

/** What an event adds to its own transaction: its deliveries, planned by a copy of the endpoints that is read once in a while. */
export const planPoints = statements('webhook_endpoints_list_to_plan');

/** The claim of a delivery that this process has not just written. */
export const deliveryClaimPoints = [
  ...statements('webhook_targets_find'),
  ...autocommit('webhook_deliveries_claim_own'),
];

/** From the request to the record of its success. */
export const attemptPoints = [...outboundCall('webhook-call'), ...commit('webhook_deliveries_mark_delivered')];

/** From the claim of a delivery to the record of its success. */
export const deliveryPoints = [...deliveryClaimPoints, ...attemptPoints];

/** From the claim of the work to the network's response. */
export const sendPoints = [
  ...autocommit('outbox_claim'),
  ...statements('transfers_find_by_id', 'merchants_find_by_id', 'circuit_breakers_list'),
  ...statements('transfers_lock', 'transfers_update'),
  ...commit('transfers_update'),
  ...outboundCall('payouts-call'),
];

/** From the network's report that it paid to the booked transfer. */
export const completionPoints = [
  ...autocommit('provider_transactions_insert_once'),
  ...since('provider_transactions_insert_once:after', [
    ...statements('transfers_lock', 'ledger_holds_close', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
];

/** A look-up of a transfer, until its response has been read. */
export const lookUpPoints = [
  ...autocommit('outbox_claim'),
  ...statements('transfers_find_by_id', 'merchants_find_by_id'),
  ...outboundCall('look-up'),
  ...statements('circuit_breakers_list'),
];

/** From the claim of a collection to the network's response. */
export const startPoints = [
  ...autocommit('outbox_claim'),
  ...statements('charges_find_by_id', 'merchants_find_by_id', 'payment_intents_lock', 'charges_update_progress'),
  ...commit('charges_update_progress'),
  ...outboundCall('collections-call'),
];

/** And on to the booked payment. */
export const collectionPoints = [
  ...startPoints,
  ...autocommit('provider_transactions_insert_once'),
  ...since('provider_transactions_insert_once:after', [
    ...statements('payment_intents_lock', 'ledger_accounts_try_lock_above_zero'),
    ...statements('payment_intents_update', 'charges_update_outcome'),
    ...commit('charges_update_outcome'),
  ]),
];
