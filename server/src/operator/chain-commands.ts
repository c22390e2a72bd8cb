import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { areHeadsUnchanged, parseHeads, readHeads, type Heads } from '../chain/heads.ts';
import { listHeadsFiles, recordHeads } from '../chain/record-heads.ts';
import { verifyChains, type ChainFinding } from '../chain/verify-chain.ts';
import { UsageError } from '../kit/command-line.ts';
import { unreadableFile } from '../kit/start-error.ts';
import { readTimeOption } from '../kit/time-option.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext, CommandResult } from './command.ts';
import { merchantNames } from './merchant-of.ts';

const object = { type: 'database', id: null } as const;

const verify: Command = {
  name: 'chain verify',
  usage: '[--heads <file>] [--digest <hash> --at <time>]',
  summary: 'Verify the hash chains over ledger and audit log, and compare them with recorded heads',
  details:
    '  --heads   A file that chain head or the service has recorded; default: all in CHAIN_DIR\n' +
    '  --digest  Instead of a file, a hash from the log with its time\n' +
    '  With exit code 1 the output names the first row of each chain that is not as it was written.',
  async run(context, { options }) {
    const { db, clock, chainKey } = context;
    const startedMs = clock.now().getTime();
    const { digest, at } = options;
    if (digest !== undefined && options['heads'] !== undefined)
      throw new UsageError('Give either --heads or --digest.');
    if (at !== undefined && digest === undefined)
      throw new UsageError('--at is the time of --digest, which is missing.');
    const recorded = digest === undefined ? readRecorded(context, options['heads']) : null;
    const verified = await verifyChains(context, recorded?.heads ?? []);
    const isOther = digest !== undefined && (await readHeads(db, timeOf(context, at), chainKey)).digest !== digest;
    const comparesAll = digest === undefined && options['heads'] === undefined;
    const { others, skipped } = comparesAll ? await compareOlder(context) : { others: [], skipped: [] };
    const seconds = Math.ceil((clock.now().getTime() - startedMs) / 1_000);
    const isRight = verified.findings.length === 0 && !isOther && others.length === 0;
    await db.withTransaction(async (tx) =>
      auditCommand(tx, context, { action: 'chain.verify', object, sent: { is_correct: isRight } }),
    );
    const names = await merchantNames(db);
    const compared = digest ?? recorded?.file ?? null;
    const data = {
      ok: isRight,
      ...{ rows: Number(verified.rows), chains: verified.chains, seconds },
      ...{
        late_rows: Number(verified.lateRows),
        unchained_rows: Number(verified.unchainedRows),
        compared_with: compared,
        older_heads_that_differ: others,
        skipped_files: skipped,
      },
      findings: verified.findings.map(({ book, ownerId, block, sequence, rowId, what }) => ({
        ...{ book, owner_id: ownerId, block: Number(block), sequence: Number(sequence), row_id: rowId, what },
      })),
    };
    const text = [
      ...verified.findings.map((finding) => inWords(finding, names)),
      ...(isOther ? [`The heads are NOT those of ${at}: rows were chained again since.`] : []),
      ...others.map((file) => `The heads are NOT those of ${file}: rows were chained again since.`),
      `${isRight ? 'The chains are right' : 'The chains are WRONG'}: ${verified.rows} rows in ${verified.chains} chains, in ${seconds} s.`,
      compared === null ? 'They were compared with no recorded head: see chain head.' : `Compared with ${compared}.`,
      ...(skipped.length > 0
        ? [
            `Skipped files, which were changed or signed with another KEY_PEPPER: ${skipped.length}, the newest ${skipped[0]}.`,
          ]
        : []),
      ...(verified.unchainedRows > 0n ? [`${verified.unchainedRows} rows wait for their block.`] : []),
      ...(verified.lateRows > 0n
        ? [`${verified.lateRows} rows were added more than an hour after their time, behind newer ones.`]
        : []),
    ].join('\n');
    return { text, data, exitCode: isRight ? 0 : 1 };
  },
};

const whatTexts: Readonly<Record<ChainFinding['what'], string>> = {
  row_deleted: 'was deleted',
  row_changed: 'was changed',
  block_missing: 'is missing with its block',
  block_changed: 'or another row of its block was moved, or the block itself was changed',
  head_differs: 'or a row before it was chained again: its block is not the one that was recorded',
};

function inWords({ book, ownerId, ...found }: ChainFinding, merchants: ReadonlyMap<string, string>): string {
  const owner =
    book === 'ledger' ? `merchant ${merchants.get(ownerId) ?? 'unknown'}, ${ownerId}` : `business ${ownerId}`;
  const row = found.rowId === null ? '' : ` (${found.rowId})`;
  const noun = book === 'ledger' ? 'movement' : 'audit entry';
  return `BROKEN, ${owner}: ${noun} ${found.sequence}${row}, block ${found.block}, ${whatTexts[found.what]}.`;
}

const head: Command = {
  name: 'chain head',
  usage: '',
  summary: 'Print the heads of the hash chains, and keep them in CHAIN_DIR',
  details: '  Write the hash down, or copy the file, where nobody who administers the database can change it.',
  async run(context): Promise<CommandResult> {
    const { db, clock, chainKey, installation: config } = context;
    const recorded = await recordHeads({ db, clock, directory: config.chainDirectory, key: chainKey });
    const { at, digest, heads, rows, signature, file } = recorded;
    await db.withTransaction(async (tx) =>
      auditCommand(tx, context, { action: 'chain.head', object, sent: { digest } }),
    );
    const text = [
      `${at.toISOString()} ${digest}`,
      `${heads.length} chains with ${rows} rows. To verify them: chain verify --at ${at.toISOString()} --digest ${digest}`,
      file === null ? 'CHAIN_DIR is not set, so no file was written.' : `They are recorded in ${file}.`,
    ].join('\n');
    const data = { at: at.toISOString(), digest, signature, chains: heads.length, rows: Number(rows), file };
    return { text, data, exitCode: 0 };
  },
};

/** The heads of the file, or the newest of CHAIN_DIR. */
function readRecorded(
  context: CommandContext,
  path: string | undefined,
): (Pick<Heads, 'heads'> & { file: string }) | null {
  const file = path === undefined ? filesOf(context)[0] : resolve(path);
  if (file === undefined) return null;
  const heads = parseHeads(readFile(file), context.chainKey);
  if (!heads) throw new UsageError(`${file} holds no heads that this service has signed.`);
  return { ...heads, file };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(unreadableFile(path, error));
  }
}

/**
 * Compares with the older files of CHAIN_DIR, because a chain that somebody has written again before the newest one was recorded fits
 * that one. `others`: files whose heads are no blocks of their chains any more; `skipped`: those that this service has not signed.
 */
async function compareOlder(context: CommandContext): Promise<{ others: string[]; skipped: string[] }> {
  const { db, chainKey } = context;
  const [others, skipped]: [string[], string[]] = [[], []];
  for (const file of filesOf(context).slice(1)) {
    // A worker that starts meanwhile deletes files that are kept no longer.
    if (!existsSync(file)) continue;
    const heads = parseHeads(readFileSync(file, 'utf8'), chainKey);
    // Whoever could change the file could also have deleted it.
    if (!heads) skipped.push(file);
    else if (!(await areHeadsUnchanged(db, heads))) others.push(file);
  }
  return { others, skipped };
}

function filesOf({ installation: { chainDirectory } }: CommandContext): string[] {
  return chainDirectory === null ? [] : listHeadsFiles(chainDirectory);
}

function timeOf({ clock }: CommandContext, text: string | undefined): Date {
  if (text === undefined) throw new UsageError('--digest needs --at, the time beside it.');
  return readTimeOption(clock, { option: 'at', text, ofDay: 'last' });
}

export const chainCommands: readonly Command[] = [verify, head];
