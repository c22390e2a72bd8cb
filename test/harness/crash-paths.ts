import { outboundCall, commit, since, statements, autocommit } from './crash-points.ts';

// The path from a booked change to the merchant's server, the same for all records.

/** An event without a subscriber. */
export const unsubscribedPoints = commit('outbox_take');

/** Until the delivery of an event is scheduled. */
export const dispatchPoints = [
  ...autocommit('outbox_take'),
  ...statements('webhook_endpoints_list_for_fan_out', 'webhook_events_list_to_fan_out'),
  ...commit('webhook_deliveries_insert_once'),
];

/** From the claim of a delivery to the record of its success. */
export const deliveryPoints = [
  ...statements('webhook_targets_find'),
  ...autocommit('webhook_deliveries_claim_own'),
  ...outboundCall('webhook-call'),
  ...commit('webhook_deliveries_mark_delivered'),
];

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
