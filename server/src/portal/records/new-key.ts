import type { AccountContext } from '../../accounts/context.ts';
import { mailOwners } from '../../accounts/owner-mails.ts';
import type { Transaction } from '../../kit/db.ts';
import type { ApiKeyRecord } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { cleanText } from '../../pages/page-text.ts';
import { keyText, scopesText } from './key-texts.ts';

/** What the audit log shows of a new key; never the key. */
export function auditedKey({ name, scopes, expiresAt, addresses, lastFour }: ApiKeyRecord): Record<string, unknown> {
  return { name, scopes, expires_at: expiresAt?.toISOString() ?? null, addresses, ends_with: lastFour };
}

interface NewKey {
  merchant: Pick<Merchant, 'businessId' | 'shortId' | 'testMode'>;
  record: ApiKeyRecord;
  action: 'keys.create' | 'keys.roll';
  /** Who made it, as a sentence begins. */
  who: string;
}

/** Mails the owners of a business that it has a new key, in the transaction of the key. */
export function mailNewKey(
  tx: Transaction,
  accounts: Pick<AccountContext, 'sendMail' | 'publicUrl'>,
  { merchant: { businessId, shortId, testMode }, record, action, who }: NewKey,
): Promise<void> {
  const environment = testMode ? 'test' : 'live';
  const done = action === 'keys.roll' ? 'rolled' : 'created';
  return mailOwners(tx, accounts, businessId, {
    subject: `New ${environment} API key`,
    what: `${who} ${done} an API key: “${cleanText(record.name)}”, ${keyText(record, testMode)}. It may: ${scopesText(record.scopes)}.`,
    path: `/dashboard/${environment}/${shortId}/keys/${record.id}`,
  });
}
