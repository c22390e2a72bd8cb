/** What operators do. */
const operatorWords: ReadonlyMap<string, string> = new Map([
  ['businesses.create', 'Create a business'],
  ['businesses.check', 'Work on the checklist'],
  ['businesses.approve', 'Approve for live'],
  ['businesses.suspend', 'Suspend a business'],
  ['businesses.lift_suspension', 'Lift a suspension'],
  ['businesses.invite_owner', 'Invite an owner'],
  ['fees.set', 'Set the fee of collections'],
  ['transfer-fees.set', 'Set the fee of transfers'],
  ['limits.set', 'Set limits of transfers'],
  ['settlement.set', 'Set settlement and reserve'],
  ['settlement.run', 'Pay out sub-accounts'],
  ['settlement.result', 'Finish paying out sub-accounts'],
  ['rate-limits.set', 'Set rate limits'],
  ['page-rate-limits.set', 'Set the rate limit of a page'],
  ['appearance.set', 'Set colour and contact'],
  ['cases.proposed', 'Propose a resolution'],
  ['cases.confirmed', 'Confirm a resolution'],
  ['cases.withdrawn', 'Withdraw a proposal'],
  ['networks.add', 'Connect a rail account'],
  ['networks.rotate', 'Replace credentials of a rail account'],
  ['networks.disable', 'Disable a rail account'],
  ['networks.enable', 'Enable a rail account'],
  ['networks.order', 'Order a rail account'],
  ['receipts.match', 'Match a receipt with a payment'],
  ['receipts.limit', 'Set the limit for unconfirmed receipts'],
  ['ledger.verify', 'Verify the ledger'],
  ['customers.export', 'Export a customer’s data'],
  ['chain.verify', 'Verify the hash chains'],
  ['chain.head', 'Keep the heads of the hash chains'],
  ['reconciliation.import', 'Import a network’s statement'],
  ['reconciliation.import_result', 'Finish importing a statement'],
  ['reconciliation.save_mapping', 'Save a mapping of statements'],
  ['reconciliation.run', 'Reconcile a day'],
  ['operators.invite', 'Invite an operator'],
  ['operators.create_credential', 'Create a credential for commands'],
  ['operators.change_role', 'Change an operator’s role'],
  ['operators.revoke', 'Revoke an operator'],
  ['logo.set', 'Set the logo'],
  ['logo.remove', 'Remove the logo'],
  ['keys.create', 'Create an API key'],
  ['keys.roll', 'Roll an API key'],
  ['keys.revoke', 'Revoke an API key'],
  ['secrets.accept', 'Accept a secret of the installation'],
  ['secrets.reseal', 'Seal all values under the current key'],
  ['database.prepare', 'Prepare the database'],
  ['cluster.distribute', 'Distribute the database over a cluster'],
  ['restore.hold', 'Hold a restored copy'],
  ['restore.look_up', 'Look up the payouts of a restored copy'],
  ['restore.release', 'Release a restored copy'],
  ['backup.create', 'Make a backup'],
  ['backup.result', 'Finish a backup'],
  ['backup.drill', 'Try a backup'],
  ['backup.drill_result', 'Finish trying a backup'],
  ['login.sign_in', 'Sign in'],
  ['login.second_factor', 'Give the second factor'],
  ['login.change_password', 'Choose a new password'],
  ['list.export', 'Export a list'],
  ['data.read', 'Look at a record of a business'],
  ['demo.fill', 'Fill the demo business'],
  ['demo.result', 'Finish filling the demo business'],
]);

/** What people do that is no route of the API, in words. */
const words: ReadonlyMap<string, string> = new Map([
  ...operatorWords,
  ['business.rename', 'Name the business'],
  ['contact.set', 'Set the contact for payers'],
  ['colour.set', 'Set the colour on checkout'],
  ['fee_payer.set', 'Set who pays the fees'],
  ['urls.set', 'Set where payers go afterwards'],
  ['schedule.set', 'Set when sub-accounts are paid out'],
  ['refund_limit.set', 'Set the limit for refunds'],
  ['transfer_approval.set', 'Set what a second person approves'],
  ['transfers.request', 'Ask for a payout'],
  ['transfers.decline', 'Decline a payout'],
  ['numbers.show', 'Show a whole number'],
  ['keys.use', 'Use an API key from a new address'],
  ['team.invite', 'Invite to the team'],
  ['team.withdraw', 'Withdraw an invitation'],
  ['team.join', 'Join the team'],
  ['team.change_role', 'Change a role'],
  ['team.remove', 'Remove from the team'],
  ['login.add_factor', 'Add a second factor'],
  ['login.remove_factor', 'Remove a second factor'],
  ['createPaymentAtCounter', 'Create a payment at a counter'],
  ['live.request', 'Request live access'],
  ['audit.export', 'Export the audit log'],
]);

/** The words of an action of our own, without a route of the API; a new one reads as its name until it stands above. */
export function ownActionText(action: string): string {
  return words.get(action) ?? action.replaceAll(/[._]/g, ' ');
}

/** What operators do, for a filter. */
export const operatorActions: readonly { action: string; text: string }[] = [...operatorWords].map(
  ([action, text]) => ({
    action,
    text,
  }),
);

/** All of them, for a filter. */
export const ownActions: readonly { action: string; text: string }[] = [...words].map(([action, text]) => ({
  action,
  text,
}));
