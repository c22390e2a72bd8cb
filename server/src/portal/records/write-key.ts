import type { AccountContext } from '../../accounts/context.ts';
import { mailOwners } from '../../accounts/owner-mails.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Database, Transaction } from '../../kit/db.ts';
import { revokeApiKey, type ApiKeyRecord, type CreatedKey } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { cleanText } from '../../pages/page-text.ts';
import { keyText, scopesText } from './key-texts.ts';

/** Whoever creates, rolls and revokes a merchant's keys. */
export interface KeyWriter {
  db: Database;
  merchant: Merchant;
  accounts: Pick<AccountContext, 'sendMail' | 'publicUrl'>;
  /** As a sentence begins. */
  who: string;
  /** Writes the audit entry; `sent` is what it shows of the key. */
  audit: (tx: Transaction, act: KeyAct) => void;
}

interface KeyAct {
  action: 'keys.create' | 'keys.roll' | 'keys.revoke';
  object: { type: 'api_key'; id: string };
  sent: Record<string, unknown>;
}

/** A new key with its audit entry, and a mail to every owner, in one transaction. Entry and mail do not hold the key. */
export function writeNewKey<Key extends CreatedKey>(
  writer: KeyWriter,
  action: 'keys.create' | 'keys.roll',
  write: (tx: Transaction) => Promise<Key>,
): Promise<Key> {
  return writer.db.withTransaction(async (tx) => {
    const created = await write(tx);
    const { id, name, scopes, expiresAt, addresses, lastFour } = created.record;
    const sent = { name, scopes, expires_at: expiresAt?.toISOString() ?? null, addresses, ends_with: lastFour };
    writer.audit(tx, { action, object: { type: 'api_key', id }, sent });
    await mailNewKey(tx, writer, action, created.record);
    return created;
  });
}

/** Revokes a key with its audit entry; one that is revoked already stays as it is, without an entry. Throws AppError `not_found`. */
export function writeRevokedKey({ db, merchant, audit }: KeyWriter, clock: Clock, id: string): Promise<void> {
  return db.withTransaction(async (tx) => {
    const { name, lastFour, revokedAt } = await revokeApiKey(tx, clock, { merchantId: merchant.id, id });
    if (revokedAt !== null) return;
    audit(tx, { action: 'keys.revoke', object: { type: 'api_key', id }, sent: { name, ends_with: lastFour } });
  });
}

function mailNewKey(
  tx: Transaction,
  { accounts, merchant: { businessId, shortId, testMode }, who }: KeyWriter,
  action: 'keys.create' | 'keys.roll',
  record: ApiKeyRecord,
): Promise<void> {
  const environment = testMode ? 'test' : 'live';
  const done = action === 'keys.roll' ? 'rolled' : 'created';
  return mailOwners(tx, accounts, businessId, {
    subject: `New ${environment} API key`,
    what: `${who} ${done} an API key: “${cleanText(record.name)}”, ${keyText(record, testMode)}. It may: ${scopesText(record.scopes)}.`,
    path: `/dashboard/${environment}/${shortId}/keys/${record.id}`,
  });
}
