import type { Statement } from '../../kit/db.ts';
import { countBy, rowsBy, valueBy } from '../../kit/run-statement.ts';

export interface ChargeNote {
  merchantId: string;
  chargeId: string;
  id: string;
  kind: string;
  detail: string;
  createdAt: Date;
}

export function insertChargeNote(note: ChargeNote): Statement {
  return {
    name: 'charge_notes_insert',
    text: `INSERT INTO charge_notes (merchant_id, charge_id, id, kind, detail, created_at)
           VALUES ($1, $2, $3, $4, $5, $6)`,
    values: [note.merchantId, note.chargeId, note.id, note.kind, note.detail, note.createdAt],
    rowKey: note.id,
  };
}

export const findLastNoteTime = valueBy<Date | undefined, [charge: { merchantId: string; id: string }, kind: string]>({
  name: 'charge_notes_find_last',
  text: `SELECT created_at AS value FROM charge_notes
         WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3 ORDER BY id DESC LIMIT 1`,
  values: (charge, kind) => [charge.merchantId, charge.id, kind],
  none: undefined,
});

export const countNotes = countBy<[charge: { merchantId: string; id: string }, kind: string]>({
  name: 'charge_notes_count',
  text: `SELECT count(*) FROM charge_notes WHERE merchant_id = $1 AND charge_id = $2 AND kind = $3`,
  values: (charge, kind) => [charge.merchantId, charge.id, kind],
});

/** The newest 500: a charge has a handful of notes. */
export const listNotesOfCharges = rowsBy<ChargeNote, [merchantId: string, chargeIds: readonly string[]]>({
  name: 'charge_notes_list',
  text: `SELECT merchant_id AS "merchantId", charge_id AS "chargeId", id, kind, detail, created_at AS "createdAt"
         FROM charge_notes WHERE merchant_id = $1 AND charge_id = ANY ($2::uuid[]) ORDER BY id DESC LIMIT 500`,
});
