import type { Queryable } from '../../kit/db.ts';
import type { UrlDefaults } from '../url-defaults.ts';

/** The columns of `UrlDefaults`. */
export const urlDefaultColumns = `default_return_url AS "defaultReturnUrl", default_cancel_url AS "defaultCancelUrl",
  default_callback_url AS "defaultCallbackUrl"`;

/** Sets the addresses of payments that name none. Check them first (`checkUrls` of the payments). */
export async function setUrlDefaults(db: Queryable, merchantId: string, defaults: UrlDefaults): Promise<void> {
  await db.run({
    name: 'merchants_update_url_defaults',
    text: `UPDATE merchants SET default_return_url = $2, default_cancel_url = $3, default_callback_url = $4 WHERE id = $1`,
    values: [merchantId, defaults.defaultReturnUrl, defaults.defaultCancelUrl, defaults.defaultCallbackUrl],
  });
}
