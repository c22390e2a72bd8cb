import { rowBy, runBy, statementBy } from '../../kit/run-statement.ts';

export const findLogoRow = rowBy<{ png: Uint8Array }, [merchantId: string]>({
  name: 'merchant_logos_find',
  text: 'SELECT png FROM merchant_logos WHERE merchant_id = $1',
});

/** A merchant has at most one logo; a new one replaces it. */
export const upsertLogo = statementBy<[logo: { merchantId: string; png: Uint8Array; updatedAt: Date }]>({
  name: 'merchant_logos_upsert',
  text: `INSERT INTO merchant_logos (merchant_id, png, updated_at) VALUES ($1, $2, $3)
         ON CONFLICT (merchant_id) DO UPDATE SET png = excluded.png, updated_at = excluded.updated_at`,
  values: (logo) => [logo.merchantId, logo.png, logo.updatedAt],
});

/** Returns 0 if there was no logo. */
export const deleteLogoRow = runBy<[merchantId: string]>({
  name: 'merchant_logos_delete',
  text: 'DELETE FROM merchant_logos WHERE merchant_id = $1',
});
