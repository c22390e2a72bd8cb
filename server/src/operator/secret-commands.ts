import { acceptPepper, acceptSealKey } from '../keyring/accept-keys.ts';
import type { KeyState } from '../keyring/key-check.ts';
import { readKeyState } from '../keyring/keyring.ts';
import { table, UsageError } from '../kit/command-line.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import {
  countSealed,
  countUnderOtherKeys,
  ofKey,
  resealSecrets,
  type Resealed,
  type SealedCount,
} from './reseal-secrets.ts';

const show: Command = {
  name: 'secrets show',
  usage: '',
  summary: 'Check SEAL_KEY and KEY_PEPPER against the database',
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
  async run(context, { flags }) {
    if (flags.has('dry-run')) return planResult(await countUnderOtherKeys(context));
    return resealResult(await resealSecrets(context));
  },
};

export const secretCommands: readonly Command[] = [show, accept, reseal];

function sealKeyInWords({
  missingSealKeys,
  isSealingLost,
}: Pick<KeyState, 'missingSealKeys' | 'isSealingLost'>): string {
  if (missingSealKeys.length > 0) return `WRONG: the key ${missingSealKeys.join(', ')} is missing`;
  return isSealingLost ? 'WRONG: it was declared lost' : 'right';
}

function planResult(counts: readonly SealedCount[]): CommandResult {
  const lines = counts.map(({ what, keyId, count }) => `${count} ${what} are sealed with the key ${keyId}.`);
  const data = { sealed: counts.map(({ what, keyId, count }) => ({ what, seal_key: keyId, count: Number(count) })) };
  return { text: lines.join('\n') || 'All values are sealed with SEAL_KEY.', data, exitCode: 0 };
}

// A lost key may leave thousands of unreadable values.
const unreadableShownMax = 20;

function resealResult(done: Resealed): CommandResult {
  const { resealed, unreadable, notedAgain } = done;
  const inUse = [...new Set([...done.stillUsed, ...notedAgain])];
  const shown = unreadable.slice(0, unreadableShownMax);
  const text = [
    `${resealed} values were resealed.`,
    ...(inUse.length === 0
      ? [
          'All values are sealed with SEAL_KEY. You can remove SEAL_KEYS_OLD.',
          'Keep the old key in a safe place while you have backups from before now: a copy restored from one needs it.',
        ]
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
