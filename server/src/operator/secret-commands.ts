import { sealedResponses } from '../http/sealed-responses.ts';
import { resealStore } from '../keyring/sealed-store.ts';
import { sealedTotpSecrets } from '../accounts/sealed-totp.ts';
import { sealedMails } from '../mail/sealed-mails.ts';
import type { SealedStore } from '../keyring/sealed-store.ts';
import { table, UsageError } from '../kit/command-line.ts';
import type { Queryable } from '../kit/db.ts';
import type { KeyState } from '../keyring/key-check.ts';
import { acceptPepper, acceptSealKey, retireSealKeys } from '../keyring/accept-keys.ts';
import { sealingEndsWithinMs } from '../keyring/guarded-sealer.ts';
import { listOtherKeysInUse, openKeyring, readKeyState } from '../keyring/keyring.ts';
import { sealedInstallationSecrets } from '../keyring/sealed-installation-secrets.ts';
import { sealedRailCredentials } from '../rail-accounts/credentials.ts';
import { sealedWebhookSecrets } from '../webhooks/sealed-secrets.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { createProgress } from './progress.ts';

/** Everything that is stored sealed; `secrets reseal` covers these stores. */
const stores = [
  sealedWebhookSecrets,
  sealedResponses,
  sealedInstallationSecrets,
  sealedTotpSecrets,
  sealedMails,
  sealedRailCredentials,
] as readonly SealedStore[];

interface Count {
  what: string;
  keyId: string;
  count: bigint;
}

const show: Command = {
  name: 'secrets show',
  usage: '',
  summary: 'Check SEAL_KEY and KEY_PEPPER against the database',
  options: {},
  positionals: 0,
  access: 'owner',
  async run({ db, keys }) {
    const { missingSealKeys, isSealingLost, pepper } = await readKeyState(db, keys.checks);
    const counts = await countSealed(db);
    const known = new Map(
      [keys.checks.sealing, ...keys.checks.olderSealing].map(
        ({ keyId }, index) => [keyId ?? '', index === 0 ? 'SEAL_KEY' : 'SEAL_KEYS_OLD'] as const,
      ),
    );
    const rows = counts.map(({ what, keyId, count }) => [keyId, known.get(keyId) ?? 'not set', String(count), what]);
    const isWrong = missingSealKeys.length > 0 || isSealingLost || pepper === 'wrong';
    const text = [
      `SEAL_KEY is ${sealKeyInWords({ missingSealKeys, isSealingLost })}.`,
      `KEY_PEPPER is ${pepper === 'wrong' ? 'WRONG' : pepper}.`,
      ...(rows.length === 0 ? ['Nothing is sealed.'] : [table(['SEAL KEY', 'SETTING', 'COUNT', 'WHAT'], rows)]),
    ].join('\n');
    const data = {
      seal_key: keys.checks.sealing.keyId,
      missing_seal_keys: missingSealKeys,
      key_pepper: pepper,
      sealed: counts.map(({ what, keyId, count }) => ({ what, seal_key: keyId, count: Number(count) })),
    };
    return { text, data, exitCode: isWrong ? 1 : 0 };
  },
};

const accept: Command = {
  name: 'secrets accept',
  usage: '<SEAL_KEY|KEY_PEPPER>',
  summary: 'Accept the SEAL_KEY or KEY_PEPPER of the environment',
  details: '  Needed after some upgrades, and when the previous key is lost.',
  options: {},
  positionals: 1,
  access: 'owner',
  async run(context, { positionals }) {
    const [setting] = positionals;
    if (setting === 'SEAL_KEY') return acceptSeal(context);
    if (setting !== 'KEY_PEPPER') throw new UsageError(`Give SEAL_KEY or KEY_PEPPER, not ${setting}.`);
    await context.db.withTransaction(async (tx) => {
      await acceptPepper(tx, context.keys);
      auditCommand(tx, context, { action: 'secrets.accept', object: ofKey, sent: { setting } });
    });
    return {
      text: 'KEY_PEPPER is accepted. API keys created under another pepper stay invalid. Restart every process.',
      data: { accepted: setting },
      exitCode: 0,
    };
  },
};

/** The object of the audit entries. */
const ofKey = { type: 'secrets', id: null };

async function acceptSeal(context: CommandContext): Promise<CommandResult> {
  const { db, keys } = context;
  const { lostKeys, lostSecrets } = await db.withTransaction(async (tx) => {
    const accepted = await acceptSealKey(tx, keys);
    const sent = { setting: 'SEAL_KEY', lost_keys: accepted.lostKeys };
    auditCommand(tx, context, { action: 'secrets.accept', object: ofKey, sent });
    return accepted;
  });
  const text = [
    'SEAL_KEY is accepted. Restart every process.',
    ...(lostKeys.length === 0
      ? []
      : [`Values sealed with ${lostKeys.join(', ')} cannot be opened any more. See: secrets show`]),
    ...(lostSecrets.length === 0 ? [] : ['The payment_method_id of each phone number changes.']),
  ].join('\n');
  return { text, data: { accepted: 'SEAL_KEY', lost_seal_keys: lostKeys }, exitCode: 0 };
}

const reseal: Command = {
  name: 'secrets reseal',
  usage: '[--dry-run]',
  summary: 'Seal all values under SEAL_KEY, so that old keys can go',
  details: '  You can interrupt the command and run it again; --dry-run only counts.',
  options: {},
  flags: ['dry-run'],
  positionals: 0,
  async run(context, { flags }) {
    const { db, keys } = context;
    const before = await countUnderOtherKeys(context);
    if (flags.has('dry-run')) return planResult(before);
    // Records the key before anything is sealed with it, so that every later start requires it.
    await openKeyring(keys);
    const first = await resealAll(context, before);
    await waitForOtherProcesses(context);
    const second = await resealAll(context, await countUnderOtherKeys(context));
    const stillUsed = keyIdsOf(await countUnderOtherKeys(context));
    const resealed = first.resealed + second.resealed;
    const retired = await db.withTransaction(async (tx) => {
      const ended = await retireSealKeys(tx, keys, stillUsed);
      const sent = { values: resealed, retired_keys: ended };
      auditCommand(tx, context, { action: 'secrets.reseal', object: ofKey, sent });
      return ended;
    });
    // A process that still seals with a retired key records it again at its next check.
    if (retired.length > 0) await waitForOtherProcesses(context);
    return resealResult({
      resealed,
      unreadable: second.unreadable,
      retired,
      stillUsed: keyIdsOf(await countUnderOtherKeys(context)),
      notedAgain: (await listOtherKeysInUse(db, keys.checks)).filter((keyId) => retired.includes(keyId)),
    });
  },
};

export const secretCommands: readonly Command[] = [show, accept, reseal];

/** Reseals the values counted in `counts`, and those added since. */
async function resealAll(
  { db, keys, progressTo }: CommandContext,
  counts: readonly Count[],
): Promise<{ resealed: number; unreadable: string[] }> {
  const total = counts.reduce((sum, { count }) => sum + Number(count), 0);
  const progress = createProgress(progressTo, { total, what: 'sealed values' });
  const unreadable: string[] = [];
  let resealed = 0;
  let seenBefore = 0;
  try {
    for (const store of stores) {
      const onProgress = (seen: number): void => progress.show(seenBefore + seen);
      const done = await resealStore(db, store, { sealer: keys.sealer, onProgress });
      resealed += done.resealed;
      seenBefore += done.resealed + done.unreadable.length;
      unreadable.push(...done.unreadable);
    }
  } finally {
    progress.end();
  }
  return { resealed, unreadable };
}

/** Afterwards, every value that another process was still sealing with an old key is stored. */
async function waitForOtherProcesses({ clock, progressTo }: CommandContext): Promise<void> {
  progressTo.write(`Waiting ${sealingEndsWithinMs / 1_000} s, until every process has checked its SEAL_KEY again.\n`);
  await clock.sleep(sealingEndsWithinMs);
}

function keyIdsOf(counts: readonly Count[]): Set<string> {
  return new Set(counts.map(({ keyId }) => keyId));
}

function sealKeyInWords({
  missingSealKeys,
  isSealingLost,
}: Pick<KeyState, 'missingSealKeys' | 'isSealingLost'>): string {
  if (missingSealKeys.length > 0) return `WRONG: the key ${missingSealKeys.join(', ')} is missing`;
  return isSealingLost ? 'WRONG: it was declared lost' : 'right';
}

async function countSealed(db: Queryable): Promise<Count[]> {
  const counts: Count[] = [];
  for (const { what, countByKey } of stores) {
    for (const { keyId, count } of await countByKey(db)) counts.push({ what, keyId, count });
  }
  return counts;
}

async function countUnderOtherKeys({ db, keys }: CommandContext): Promise<Count[]> {
  return (await countSealed(db)).filter(({ keyId }) => keyId !== keys.sealer.keyId);
}

function planResult(counts: readonly Count[]): CommandResult {
  const lines = counts.map(({ what, keyId, count }) => `${count} ${what} are sealed with the key ${keyId}.`);
  const data = { sealed: counts.map(({ what, keyId, count }) => ({ what, seal_key: keyId, count: Number(count) })) };
  return { text: lines.join('\n') || 'All values are sealed with SEAL_KEY.', data, exitCode: 0 };
}

// A lost key may leave thousands of unreadable values.
const unreadableShownMax = 20;

function resealResult(done: {
  resealed: number;
  unreadable: readonly string[];
  retired: readonly string[];
  stillUsed: ReadonlySet<string>;
  /** Retired keys with which a process still seals. */
  notedAgain: readonly string[];
}): CommandResult {
  const { resealed, unreadable, notedAgain } = done;
  const inUse = [...new Set([...done.stillUsed, ...notedAgain])];
  const shown = unreadable.slice(0, unreadableShownMax);
  const text = [
    `${resealed} values were resealed.`,
    ...(inUse.length === 0
      ? ['All values are sealed with SEAL_KEY. You can remove SEAL_KEYS_OLD.']
      : [`Some values are still sealed with ${inUse.join(', ')}: keep these keys in SEAL_KEYS_OLD if you have them.`]),
    ...(notedAgain.length === 0
      ? []
      : [
          `A process still seals with ${notedAgain.join(', ')}: restart it with the new SEAL_KEY, then run this command again.`,
        ]),
    ...shown.map((name) => `Cannot be opened: ${name}.`),
    ...(unreadable.length > shown.length ? [`… and ${unreadable.length - shown.length} more.`] : []),
  ].join('\n');
  const retired = done.retired.filter((keyId) => !inUse.includes(keyId));
  const data = { resealed, unreadable: unreadable.length, retired_seal_keys: retired, seal_keys_in_use: inUse };
  return { text, data, exitCode: inUse.length === 0 ? 0 : 1 };
}
