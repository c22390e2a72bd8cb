import type { Transaction } from '../kit/db.ts';
import type { AccountContext } from './context.ts';
import { listOwners } from './queries/team.ts';

/**
 * Mails all owners of a business about what one of them or a thief may have done. Call `sealer.prepare()` before the transaction.
 * `what` is a whole sentence; `except` has got a mail of its own.
 */
export async function mailOwners(
  tx: Transaction,
  { sendMail, publicUrl }: Pick<AccountContext, 'sendMail' | 'publicUrl'>,
  businessId: string,
  { subject, what, except }: { subject: string; what: string; except?: string },
): Promise<void> {
  for (const { email, name, businessName } of await listOwners(tx, businessId)) {
    if (email === except) continue;
    const text = `Hello ${name},

${what}

This mail goes to all owners of ${businessName}. If nobody of you wanted this, sign in and undo it:

${publicUrl()}/dashboard/businesses`;
    sendMail(tx, { to: email, subject: `${businessName}: ${subject}`, text });
  }
}
