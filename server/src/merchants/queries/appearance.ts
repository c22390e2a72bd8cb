import type { Queryable } from '../../kit/db.ts';
import type { MerchantAppearance } from '../appearance.ts';

/** The columns of `MerchantAppearance`, and when the logo was set. */
export const appearanceColumns = `page_colour AS "pageColour", contact_phone AS "contactPhone",
  contact_whatsapp AS "contactWhatsapp", contact_email AS "contactEmail",
  contact_text AS "contactText",
  (SELECT updated_at FROM merchant_logos WHERE merchant_logos.merchant_id = merchants.id) AS "logoSetAt"`;

/** Changes only the given columns, so that two operators do not undo each other's changes. */
export async function setAppearance(
  db: Queryable,
  merchantId: string,
  appearance: Partial<MerchantAppearance>,
): Promise<void> {
  const { pageColour, contactPhone, contactWhatsapp, contactEmail, contactText } = appearance;
  const values = [pageColour, contactPhone, contactWhatsapp, contactEmail, contactText];
  await db.run({
    name: 'merchants_update_appearance',
    text: `UPDATE merchants
           SET page_colour = CASE WHEN $2 THEN $3 ELSE page_colour END,
               contact_phone = CASE WHEN $4 THEN $5 ELSE contact_phone END,
               contact_whatsapp = CASE WHEN $6 THEN $7 ELSE contact_whatsapp END,
               contact_email = CASE WHEN $8 THEN $9 ELSE contact_email END,
               contact_text = CASE WHEN $10 THEN $11 ELSE contact_text END
           WHERE id = $1`,
    values: [merchantId, ...values.flatMap((value) => [value !== undefined, value ?? null])],
  });
}
