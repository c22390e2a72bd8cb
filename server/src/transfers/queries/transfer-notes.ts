import type { Statement } from '../../kit/db.ts';
import { rowsBy } from '../../kit/run-statement.ts';

interface TransferNote {
  merchantId: string;
  transferId: string;
  id: string;
  kind: string;
  detail: string;
  createdAt: Date;
}

export function insertTransferNote(note: TransferNote): Statement {
  return {
    name: 'transfer_notes_insert',
    text: `INSERT INTO transfer_notes (merchant_id, transfer_id, id, kind, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [note.merchantId, note.transferId, note.id, note.kind, note.detail, note.createdAt],
    rowKey: note.id,
  };
}

// A network that is down for hours adds two notes with each trial: the newest ones show how it ended.
const notesMax = 500;

/** The newest, oldest first. */
export const listNotesOfTransfer = rowsBy<TransferNote, [merchantId: string, transferId: string]>({
  name: 'transfer_notes_list',
  text: `SELECT * FROM (
           SELECT merchant_id AS "merchantId", transfer_id AS "transferId", id, kind, detail, created_at AS "createdAt"
           FROM transfer_notes WHERE merchant_id = $1 AND transfer_id = $2 ORDER BY id DESC LIMIT ${notesMax}
         ) AS newest ORDER BY id`,
});
