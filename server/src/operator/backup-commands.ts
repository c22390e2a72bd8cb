import { resolve } from 'node:path';
import { createBackup } from '../backups/create-backup.ts';
import { drillBackup } from '../backups/drill-backup.ts';
import { backupPaths, listBackups, readWholeManifest } from '../backups/manifest.ts';
import { ownServerHelp } from '../backups/own-server.ts';
import { restoreBackup } from '../backups/restore-backup.ts';
import { recordBackupRun } from '../backups/runs.ts';
import { verifyChains } from '../chain/verify-chain.ts';
import { table, UsageError } from '../kit/command-line.ts';
import { readTimeOption } from '../kit/time-option.ts';
import { verifyBooks } from '../transfers/verify-books.ts';
import { auditCommand } from './audit-command.ts';
import type { BareContext, Command, CommandContext } from './command.ts';
import { createProgress } from './progress.ts';

const installation = { type: 'database', id: null } as const;
const keepDefault = 7;
const keepMax = 1_000;
const bytesPerMb = 1_000_000;

const create: Command = {
  name: 'backup create',
  usage: '[--keep <count>]',
  summary: 'Back up the bundled PostgreSQL into BACKUP_DIR, while the service runs',
  details:
    `  --keep   How many backups stay; default: ${keepDefault}. The log that only older ones need goes with them.\n` +
    '  SEAL_KEY and KEY_PEPPER are not in it: keep them elsewhere, for without them it cannot be used.',
  async run(context, input) {
    const { adminUrl, clock, installation: config } = context;
    const backupDirectory = directoryOf(context);
    const keep = readKeep(input.options['keep']);
    if (adminUrl === null) throw new UsageError(ownServerHelp);
    // Before the first file: a command that is killed has copied the database too, and may have deleted an old backup.
    await recordAct(context, 'backup.create', { keep });
    const startedMs = clock.now().getTime();
    const { onProgress, end } = progressOf(context);
    const { manifest, bytes, removed } = await createBackup({
      ...{ backupDirectory, dataDirectory: config.dataDirectory, adminUrl, keep, clock, onProgress },
    }).finally(end);
    const seconds = secondsSince(context, startedMs);
    const { name } = manifest;
    await context.db.withTransaction(async (tx) => {
      recordBackupRun(tx, context.onboarding, {
        kind: 'backup',
        backup: name,
        seconds,
        lostSeconds: null,
        problem: null,
      });
      auditCommand(tx, context, { action: 'backup.result', object: installation, sent: { backup: name } });
    });
    const deleted = removed.length === 0 ? '' : ` Deleted: ${removed.join(', ')}.`;
    return {
      text: `Backup ${name}: ${megabytes(bytes)} in ${seconds} s. ${inDirectory(backupDirectory)}${deleted}`,
      data: { backup: name, bytes, seconds: Number(seconds), removed },
      exitCode: 0,
    };
  },
};

const list: Command = {
  name: 'backup list',
  usage: '',
  summary: 'List the backups in BACKUP_DIR',
  access: 'none',
  async run(context) {
    const backupDirectory = directoryOf(context);
    const { base } = backupPaths(backupDirectory);
    const found = listBackups(backupDirectory).map((name) => {
      const manifest = readWholeManifest(`${base}/${name}`);
      const bytes = manifest?.files.reduce((sum, file) => sum + file.bytes, 0) ?? null;
      return { backup: name, ended_at: manifest?.endedAt ?? null, bytes };
    });
    const rows = found.map(({ backup, ended_at: endedAt, bytes }) =>
      endedAt === null || bytes === null
        ? [backup, 'damaged: cannot be restored', '']
        : [backup, endedAt, megabytes(bytes)],
    );
    const text = rows.length === 0 ? 'No backups.' : table(['BACKUP', 'ENDED', 'SIZE'], rows);
    return { text, data: found, exitCode: 0 };
  },
};

const restore: Command = {
  name: 'backup restore',
  usage: '--to <directory> [--backup <name>] [--at <time>]',
  summary: 'Restore a backup and the log since into a new data directory',
  details:
    '  Then set DATA_DIR to that directory and BACKUP_DIR to a new one, and start the service with the\n  same SEAL_KEY and KEY_PEPPER. The copy does no work that is due before: restore release',
  access: 'none',
  async run(context, input) {
    const { clock } = context;
    const { to = '', backup: name = null, at } = input.options;
    // An empty variable of a script, which would be the directory that it runs in.
    if (to === '') throw new UsageError('--to is empty. Name the new data directory.');
    const backupDirectory = directoryOf(context);
    if (name !== null) requireBackup(backupDirectory, name);
    const until = at === undefined ? null : readTimeOption(clock, { option: 'at', text: at, ofDay: 'last' });
    const startedMs = clock.now().getTime();
    const { onProgress, end } = progressOf(context);
    const { manifest, segments, restoredTo } = await restoreBackup({
      ...{ backupDirectory, name, until, target: resolve(to), clock, onProgress, log: () => {} },
    }).finally(end);
    const seconds = secondsSince(context, startedMs);
    const text = [
      `Backup ${manifest.name} and ${segments} segments of the log are restored into ${resolve(to)}, in ${seconds} s.`,
      `The newest change in it is of ${restoredTo.toISOString()}. It does no work that is due before you run: restore release`,
      'What to do first: docs/operations.md, "Before you release a copy".',
    ].join('\n');
    const data = { backup: manifest.name, segments, newest_change: restoredTo.toISOString(), seconds: Number(seconds) };
    return { text, data, exitCode: 0 };
  },
};

const drill: Command = {
  name: 'backup drill',
  usage: '[--backup <name>]',
  summary: 'Restore the newest backup beside the running service, verify its ledger, and remove it',
  details:
    '  Exit code 1 if it cannot be restored, or its ledger is wrong. The console and the metrics show the result.',
  async run(context, input) {
    const { clock, onboarding, db } = context;
    const backupDirectory = directoryOf(context);
    const name = input.options['backup'] ?? null;
    if (name !== null) requireBackup(backupDirectory, name);
    await recordAct(context, 'backup.drill', { backup: name ?? 'the newest' });
    const started = clock.now();
    const { onProgress, end } = progressOf(context);
    const verify = async (copy: CommandContext['db']) => {
      const { finding, stored } = await verifyBooks(copy, onboarding, () => {});
      const [broken] = (await verifyChains({ db: copy, clock })).findings;
      const problem = finding
        ? `The restored ledger is wrong: account ${finding.account}: ${finding.message}`
        : broken && `A hash chain of the copy is broken: run chain verify (${broken.book}, block ${broken.block})`;
      return { movements: Number(stored.movements), problem: problem ?? null };
    };
    const drilled = await drillBackup({ backupDirectory, name, clock, onProgress, verify }).finally(end);
    const seconds = secondsSince(context, started.getTime());
    const { restoredTo, problem } = drilled;
    const lostMs = restoredTo === null ? null : Math.max(0, started.getTime() - restoredTo.getTime());
    const lostSeconds = lostMs === null ? null : BigInt(Math.ceil(lostMs / 1_000));
    const backup = drilled.backup ?? 'none';
    await db.withTransaction(async (tx) => {
      recordBackupRun(tx, onboarding, { kind: 'drill', backup, seconds, lostSeconds, problem });
      auditCommand(tx, context, {
        action: 'backup.drill_result',
        object: installation,
        sent: { backup, is_correct: problem === null },
      });
    });
    const data = {
      ok: problem === null,
      ...{ backup: drilled.backup, seconds: Number(seconds), problem, movements: drilled.movements },
      newest_change: restoredTo?.toISOString() ?? null,
      lost_seconds_at_most: lostSeconds === null ? null : Number(lostSeconds),
    };
    if (problem !== null) return { text: `The drill FAILED after ${seconds} s: ${problem}`, data, exitCode: 1 };
    const text = [
      `Backup ${backup} was restored and its ledger is correct (${drilled.movements} movements), in ${seconds} s.`,
      `The newest restored change was ${lostSeconds} s older than the start of the drill.`,
    ].join('\n');
    return { text, data, exitCode: 0 };
  },
};

function directoryOf({ installation: { backupDirectory, isOwnServer } }: BareContext): string {
  if (isOwnServer) throw new UsageError(ownServerHelp);
  if (backupDirectory === null)
    throw new UsageError('BACKUP_DIR is not set: the directory for backups, best on another disk.');
  return resolve(backupDirectory);
}

/** A mistyped name is no backup that cannot be relied on. Throws UsageError. */
function requireBackup(backupDirectory: string, name: string): void {
  if (listBackups(backupDirectory).includes(name)) return;
  throw new UsageError(`There is no complete backup ${name} in ${backupDirectory}. See: backup list`);
}

/** Writes the audit entry of what begins now. */
async function recordAct(context: CommandContext, action: string, sent: unknown): Promise<void> {
  await context.db.withTransaction(async (tx) => auditCommand(tx, context, { action, object: installation, sent }));
}

function readKeep(text: string | undefined): number {
  const keep = /^\d{1,4}$/.test(text ?? String(keepDefault)) ? Number(text ?? keepDefault) : 0;
  if (keep >= 1 && keep <= keepMax) return keep;
  throw new UsageError(`--keep is a whole number from 1 to ${keepMax}, not ${text}.`);
}

/** In megabytes, which people read. */
function progressOf({ progressTo }: BareContext) {
  let progress: ReturnType<typeof createProgress> | undefined;
  const onProgress = (bytes: number, total: number): void => {
    progress ??= createProgress(progressTo, { total: Math.ceil(total / bytesPerMb), what: 'MB' });
    progress.show(Math.ceil(bytes / bytesPerMb));
  };
  return { onProgress, end: () => progress?.end() };
}

function secondsSince({ clock }: BareContext, startedMs: number): bigint {
  return BigInt(Math.ceil((clock.now().getTime() - startedMs) / 1_000));
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / bytesPerMb)} MB`;
}

function inDirectory(directory: string): string {
  return `It is in ${directory}; copy that directory to another machine.`;
}

export const backupCommands: readonly Command[] = [create, list, restore, drill];
