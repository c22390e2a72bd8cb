import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { Log } from '../kit/log.ts';
import type { Sealer } from '../kit/seal.ts';
import { insertMail, listNewestMails } from './queries.ts';

export interface MailContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  sealer: Sealer;
  log: Log;
}

/** A mail in plain text. */
export interface NewMail {
  to: string;
  subject: string;
  text: string;
}

const subjectLengthMax = 150;

/**
 * Writes a mail into the transaction of its cause; a worker sends it after the commit. The subject may hold what people call
 * themselves: line breaks and other control characters, which could become headers, turn into spaces.
 */
export function sendMail(
  tx: Transaction,
  { clock, newId, sealer }: Pick<MailContext, 'clock' | 'newId' | 'sealer'>,
  { to, subject, text }: NewMail,
): void {
  const now = clock.now();
  const id = newId();
  tx.send(
    insertMail({
      id,
      recipient: to,
      subject: subject.replaceAll(/\p{C}+/gu, ' ').slice(0, subjectLengthMax),
      sealedText: sealer.seal(text, sealContext(id)),
      createdAt: now,
      dueAt: now,
    }),
  );
}

export function sealContext(id: string): string {
  return `mail ${id}`;
}

/** A mail as the development mailbox shows it. */
export interface ReadableMail {
  id: string;
  recipient: string;
  subject: string;
  text: string;
  createdAt: Date;
}

const shownMax = 50;

/** The newest mails that nothing has sent, newest first: on a development server without SMTP, all of them. */
export async function listMailbox({ db, sealer }: Pick<MailContext, 'db' | 'sealer'>): Promise<ReadableMail[]> {
  const mails = await listNewestMails(db, shownMax);
  return mails.map(({ sealedText, ...mail }) => ({
    ...mail,
    text: sealer.open(sealedText, sealContext(mail.id)).toString(),
  }));
}
