/** What people do that is no route of the API, in words. */
const words: ReadonlyMap<string, string> = new Map([
  ['business.rename', 'Name the business'],
  ['contact.set', 'Set the contact for payers'],
  ['logo.set', 'Set the logo'],
  ['logo.remove', 'Remove the logo'],
  ['colour.set', 'Set the colour on checkout'],
  ['fee_payer.set', 'Set who pays the fees'],
  ['urls.set', 'Set where payers go afterwards'],
  ['schedule.set', 'Set when sub-accounts are paid out'],
  ['refund_limit.set', 'Set the limit for refunds'],
  ['team.invite', 'Invite to the team'],
  ['team.withdraw', 'Withdraw an invitation'],
  ['team.join', 'Join the team'],
  ['team.change_role', 'Change a role'],
  ['team.remove', 'Remove from the team'],
  ['login.add_factor', 'Add a second factor'],
  ['login.remove_factor', 'Remove a second factor'],
  ['createPaymentAtCounter', 'Create a payment at a counter'],
  ['keys.create', 'Create an API key'],
  ['keys.roll', 'Roll an API key'],
  ['keys.revoke', 'Revoke an API key'],
  ['live.request', 'Ask to go live'],
  ['audit.export', 'Export the audit log'],
]);

/** The words of an action of our own, without a route of the API; a new one reads as its name until it stands above. */
export function ownActionText(action: string): string {
  return words.get(action) ?? action.replaceAll(/[._]/g, ' ');
}

/** All of them, for a filter. */
export const ownActions: readonly { action: string; text: string }[] = [...words].map(([action, text]) => ({
  action,
  text,
}));
