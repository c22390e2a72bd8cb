import type { Queryable, Transaction } from '../kit/db.ts';
import type { AccountContext } from './context.ts';
import { listOwners } from './queries/team.ts';

export interface OwnerMail {
  subject: string;
  /** One or more whole sentences. */
  what: string;
  /** Where it is undone. Default: where the owner chooses the business. */
  path?: string;
  /** The words before it. Default: how to undo it. */
  pathText?: string;
  /** An address that has got a mail of its own. */
  except?: string;
}

const undoIt = 'If nobody of you wanted this, sign in and undo it:';

type MailParts = Pick<AccountContext, 'sendMail' | 'publicUrl'>;

/**
 * Mails all owners of a business about what one of them or a thief may have done. Call `sealer.prepare()` before the transaction.
 */
export async function mailOwners(
  tx: Transaction,
  parts: MailParts,
  businessId: string,
  mail: OwnerMail,
): Promise<void> {
  (await prepareOwnerMails(tx, parts, businessId, mail))(tx);
}

/** The same for a transaction that does not wait: reads the owners now, and returns what writes the mails. */
export async function prepareOwnerMails(
  db: Queryable,
  { sendMail, publicUrl }: MailParts,
  businessId: string,
  { subject, what, path = '/dashboard/businesses', pathText = undoIt, except }: OwnerMail,
): Promise<(tx: Transaction) => void> {
  const owners = (await listOwners(db, businessId)).filter(({ email }) => email !== except);
  return (tx) => {
    for (const { email, name, businessName } of owners) {
      const text = `Hello ${name},

${what}

This mail goes to all owners of ${businessName}. ${pathText}

${publicUrl()}${path}`;
      sendMail(tx, { to: email, subject: `${businessName}: ${subject}`, text });
    }
  };
}
