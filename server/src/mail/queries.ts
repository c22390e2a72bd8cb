import type { Statement } from '../kit/db.ts';
import { rowBy, rowsBy, runBy, statementBy } from '../kit/run-statement.ts';
import { sealedKeyIdSql } from '../kit/seal.ts';

export interface StoredMail {
  id: string;
  recipient: string;
  subject: string;
  sealedText: Buffer;
  attempts: bigint;
  createdAt: Date;
}

export function insertMail(mail: {
  id: string;
  recipient: string;
  subject: string;
  sealedText: Uint8Array;
  createdAt: Date;
  dueAt: Date;
}): Statement {
  return {
    name: 'mails_insert',
    text: `INSERT INTO mails (id, recipient, subject, sealed_text, due_at, created_at) VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [mail.id, mail.recipient, mail.subject, mail.sealedText, mail.dueAt, mail.createdAt],
  };
}

const mailColumns = `id, recipient, subject, sealed_text AS "sealedText", attempts, created_at AS "createdAt"`;

/** Reserves the mail that is due first until `leaseUntil`: of several workers one gets it. Counts the attempt before it is made. */
export const claimMail = rowBy<StoredMail, [claim: { now: Date; leaseUntil: Date }]>({
  name: 'mails_claim',
  text: `UPDATE mails SET due_at = $2, attempts = attempts + 1
          WHERE id = (SELECT id FROM mails WHERE due_at <= $1 ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING ${mailColumns}`,
  values: (claim) => [claim.now, claim.leaseUntil],
});

/** Guarded by the attempt: a worker whose lease has ended changes nothing. */
export const markMailSent = statementBy<[mail: StoredMail, at: Date]>({
  name: 'mails_sent',
  text: `UPDATE mails SET sealed_text = NULL, due_at = NULL, failure = NULL, sent_at = $3 WHERE id = $1 AND attempts = $2`,
  values: (mail, at) => [mail.id, mail.attempts, at],
});

/** Tries again at `dueAt`; null gives up, and erases the text. Changes nothing of a mail that was given up during the attempt. */
export const markMailFailed = statementBy<[mail: StoredMail, failure: string, dueAt: Date | null]>({
  name: 'mails_failed',
  text: `UPDATE mails SET failure = $3, due_at = $4, sealed_text = CASE WHEN $4::timestamptz IS NULL THEN NULL ELSE sealed_text END
          WHERE id = $1 AND attempts = $2 AND sealed_text IS NOT NULL`,
  values: (mail, failure, dueAt) => [mail.id, mail.attempts, failure, dueAt],
});

/** Mails whose text is still there. */
export const listNewestMails = rowsBy<StoredMail, [limit: number]>({
  name: 'mails_newest',
  text: `SELECT ${mailColumns} FROM mails WHERE sealed_text IS NOT NULL ORDER BY created_at DESC, id DESC LIMIT $1`,
});

/** Gives up mails of before, and erases their texts. */
export const eraseMailsBefore = runBy<[before: Date, limit: number]>({
  name: 'mails_erase',
  text: `UPDATE mails SET sealed_text = NULL, due_at = NULL, failure = COALESCE(failure, 'not sent within a day')
          WHERE id IN (SELECT id FROM mails WHERE created_at < $1 AND sealed_text IS NOT NULL LIMIT $2)`,
});

const mailKeyId = sealedKeyIdSql('sealed_text');

export const countMailsByKey = rowsBy<{ keyId: string; count: bigint }, []>({
  name: 'mails_count_by_key',
  text: `SELECT ${mailKeyId} AS "keyId", count(*) AS count FROM mails WHERE sealed_text IS NOT NULL GROUP BY 1`,
});

/** Ordered by id. */
export const listMailsUnderOtherKeys = rowsBy<
  StoredMail,
  [page: { keyId: string; after: string | null; rowsMax: number }]
>({
  name: 'mails_under_other_keys',
  text: `SELECT ${mailColumns} FROM mails
          WHERE sealed_text IS NOT NULL AND ${mailKeyId} <> $1 AND ($2::uuid IS NULL OR id > $2) ORDER BY id LIMIT $3`,
  values: (page) => [page.keyId, page.after, page.rowsMax],
});

/** Replaces the text only if it is unchanged. */
export const replaceMailText = statementBy<[StoredMail, newSealed: Buffer]>({
  name: 'mails_replace_text',
  text: 'UPDATE mails SET sealed_text = $3 WHERE id = $1 AND sealed_text = $2',
  values: ({ id, sealedText }, newSealed) => [id, sealedText, newSealed],
});

export const purgeMailsBefore = runBy<[before: Date, limit: number]>({
  name: 'mails_purge',
  text: 'DELETE FROM mails WHERE id IN (SELECT id FROM mails WHERE created_at < $1 LIMIT $2)',
});
