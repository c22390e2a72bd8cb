import { outboundCall, commit, since, statements, autocommit } from './crash-points.ts';

// What stands between a booked change and the merchant who hears of it, the same for all records.

/** An event that nobody has subscribed to. */
export const unsubscribedPoints = commit('outbox_take');

/** The event is on its way, and the merchant's server has answered nothing yet. */
export const dispatchPoints = [
  ...autocommit('outbox_take'),
  ...statements('webhook_endpoints_list_for_fan_out', 'webhook_events_list_to_fan_out'),
  ...commit('webhook_deliveries_insert_once'),
];

/** From the claim of a delivery to the note that it was delivered. */
export const deliveryPoints = [
  ...statements('webhook_targets_find'),
  ...autocommit('webhook_deliveries_claim_own'),
  ...outboundCall('webhook-call'),
  ...commit('webhook_deliveries_mark_delivered'),
];

/** From the claim of the work to the moment in which the network has answered. */
export const sendPoints = [
  ...autocommit('outbox_claim'),
  ...statements('transfers_find_by_id', 'merchants_find_by_id', 'circuit_breakers_list'),
  ...statements('transfers_lock', 'transfers_update'),
  ...commit('transfers_update'),
  ...outboundCall('payouts-call'),
];

/** A payout that the network says it made, from that news to the booked transfer. */
export const completionPoints = [
  ...autocommit('network_receipts_insert_once'),
  ...since('network_receipts_insert_once:after', [
    ...statements('transfers_lock', 'ledger_holds_close', 'transfers_update'),
    ...commit('transfers_update'),
  ]),
];
