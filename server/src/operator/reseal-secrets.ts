import { sealedTotpSecrets } from '../accounts/sealed-totp.ts';
import { sealedResponses } from '../http/sealed-responses.ts';
import { retireSealKeys } from '../keyring/accept-keys.ts';
import { sealingEndsWithinMs } from '../keyring/guarded-sealer.ts';
import { assertSealingKnown, listOtherKeysInUse } from '../keyring/keyring.ts';
import { sealedInstallationSecrets } from '../keyring/sealed-installation-secrets.ts';
import { resealStore, type SealedStore } from '../keyring/sealed-store.ts';
import type { Queryable } from '../kit/db.ts';
import { sealedMails } from '../mail/sealed-mails.ts';
import { sealedRailCredentials } from '../rail-accounts/credentials.ts';
import { sealedWebhookSecrets } from '../webhooks/sealed-secrets.ts';
import { auditCommand, type AuditContext } from './audit-command.ts';
import type { CommandContext } from './command.ts';
import { createProgress } from './progress.ts';

/** Everything that is stored sealed. */
const stores = [
  sealedWebhookSecrets,
  sealedResponses,
  sealedInstallationSecrets,
  sealedTotpSecrets,
  sealedMails,
  sealedRailCredentials,
] as readonly SealedStore[];

/** How many values of a kind are sealed with a key. */
export interface SealedCount {
  what: string;
  keyId: string;
  count: bigint;
}

type ResealContext = Pick<CommandContext, 'db' | 'keys' | 'clock' | 'progressTo'> & AuditContext;

export interface Resealed {
  resealed: number;
  /** The names of the values that no configured key opens. */
  unreadable: readonly string[];
  retired: readonly string[];
  stillUsed: ReadonlySet<string>;
  /** Retired keys with which a process still seals. */
  notedAgain: readonly string[];
}

/** The object of audit entries about keys. */
export const ofKey = { type: 'secrets', id: null };

/**
 * Seals all values under the configured key while other processes work, and retires the keys under which nothing is left. It can be
 * stopped at any point and run again.
 */
export async function resealSecrets(context: ResealContext): Promise<Resealed> {
  const { db, keys } = context;
  await assertSealingKnown(db, keys.checks);
  const counts = await countUnderOtherKeys(context);
  // Before anything changes: a run that is interrupted has resealed values too.
  await db.withTransaction(async (tx) => {
    auditCommand(tx, context, { action: 'secrets.reseal', object: ofKey, sent: { values: totalOf(counts) } });
  });
  const first = await resealAll(context, counts);
  await waitForOtherProcesses(context);
  const second = await resealAll(context, await countUnderOtherKeys(context));
  const stillUsed = keyIdsOf(await countUnderOtherKeys(context));
  const resealed = first.resealed + second.resealed;
  const retired = await db.withTransaction(async (tx) => {
    const ended = await retireSealKeys(tx, keys, stillUsed);
    const sent = { values: resealed, retired_keys: ended };
    auditCommand(tx, context, { action: 'secrets.reseal_result', object: ofKey, sent });
    return ended;
  });
  // A process that still seals with a retired key records it again at its next check.
  if (retired.length > 0) await waitForOtherProcesses(context);
  return {
    resealed,
    unreadable: second.unreadable,
    retired,
    stillUsed: keyIdsOf(await countUnderOtherKeys(context)),
    notedAgain: (await listOtherKeysInUse(db, keys.checks)).filter((keyId) => retired.includes(keyId)),
  };
}

export async function countSealed(db: Queryable): Promise<SealedCount[]> {
  const counts: SealedCount[] = [];
  for (const { what, countByKey } of stores) {
    for (const { keyId, count } of await countByKey(db)) counts.push({ what, keyId, count });
  }
  return counts;
}

export async function countUnderOtherKeys({ db, keys }: Pick<CommandContext, 'db' | 'keys'>): Promise<SealedCount[]> {
  return (await countSealed(db)).filter(({ keyId }) => keyId !== keys.sealer.keyId);
}

/** Reseals the values counted in `counts`, and those added since. */
async function resealAll(
  { db, keys, progressTo }: ResealContext,
  counts: readonly SealedCount[],
): Promise<{ resealed: number; unreadable: string[] }> {
  const total = totalOf(counts);
  const progress = createProgress(progressTo, { total, what: 'sealed values' });
  const unreadable: string[][] = [];
  let resealed = 0;
  let seenBefore = 0;
  try {
    for (const store of stores) {
      const onProgress = (seen: number): void => progress.show(seenBefore + seen);
      const done = await resealStore(db, store, { sealer: keys.sealer, onProgress });
      resealed += done.resealed;
      seenBefore += done.resealed + done.unreadable.length;
      // Not one argument for each: a lost key may leave more of them than a call can have.
      unreadable.push(done.unreadable);
    }
  } finally {
    progress.end();
  }
  return { resealed, unreadable: unreadable.flat() };
}

/** Afterwards, every value that another process was still sealing with an old key is stored. */
async function waitForOtherProcesses({ clock, progressTo }: ResealContext): Promise<void> {
  progressTo.write(`Waiting ${sealingEndsWithinMs / 1_000} s, until every process has checked its SEAL_KEY again.\n`);
  await clock.sleep(sealingEndsWithinMs);
}

function totalOf(counts: readonly SealedCount[]): number {
  return counts.reduce((sum, { count }) => sum + Number(count), 0);
}

function keyIdsOf(counts: readonly SealedCount[]): Set<string> {
  return new Set(counts.map(({ keyId }) => keyId));
}
