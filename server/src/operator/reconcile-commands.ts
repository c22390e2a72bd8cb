import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { OperatorAct } from '../audit/operator-act.ts';
import { UsageError, type CommandInput } from '../kit/command-line.ts';
import { isDay } from '../kit/time-or-day.ts';
import type { StatementAccount } from '../reconciliation/account.ts';
import type { ReconciliationContext } from '../reconciliation/context.ts';
import { readAmount } from './amount-option.ts';
import { auditCommand } from './audit-command.ts';
import type { Command, CommandContext } from './command.ts';
import { createProgress } from './progress.ts';
import {
  dayText,
  differencesText,
  explanationText,
  explanationToData,
  importText,
  importToData,
  triedText,
  triedToData,
} from './reconcile-text.ts';

// The work is imported by the command that does it: most commands start without it.

const importCommand: Command = {
  name: 'reconcile import',
  usage: '--network <account> --file <lines.csv> [--mapping <name>]',
  summary: 'Import the lines of a network’s statement, CSV or XLSX',
  details:
    '  --network is the account’s name, or a network that one account serves.\n' +
    '  Without --mapping: the account’s only one, or the usual headings (docs/reconciliation.md).\n' +
    '  After an interruption, run it again: it goes on where it was. A line is imported once.',
  async run(context, { options }) {
    const { work, account } = await openAccount(context, options);
    const { importFile } = await import('../reconciliation/import-file.ts');
    const { countLines } = await import('../reconciliation/read-file.ts');
    const path = options['file'] ?? '';
    const total = await countLines(path);
    // Before the first line: an import that is interrupted has stored some.
    await auditWork(context, account, { action: 'reconciliation.import', sent: { file: basename(path) } });
    const progress = total > 0 ? createProgress(context.progressTo, { total, what: 'rows' }) : null;
    const imported = await importFile(work, account, {
      path,
      mapping: options['mapping'] ?? null,
      // How many rows a workbook has is known at its end.
      onProgress: (rows) => {
        if (progress) progress.show(rows);
        else
          context.progressTo.write(`${rows.toLocaleString('en')} rows
`);
      },
    }).finally(() => progress?.end());
    const { name: fileName, linesNew, linesKnown, linesRefused } = imported;
    const sent = { file: fileName, new: Number(linesNew), known: Number(linesKnown), refused: Number(linesRefused) };
    await auditWork(context, account, { action: 'reconciliation.import_result', sent });
    return { text: importText(imported), data: importToData(imported), exitCode: 0 };
  },
};

const rowsTried = 20;

const tryCommand: Command = {
  name: 'reconcile try',
  usage: '--network <account> --file <lines.csv> [--definition <mapping.json>] [--save <name>]',
  summary: 'Read the first rows of a file with a mapping, and save the mapping once it reads them',
  details: '  Nothing of the file is stored. Without --definition the usual headings are tried.',
  async run(context, { options }) {
    const { work, account } = await openAccount(context, options);
    const { saveMapping, tryMapping } = await import('../reconciliation/import-file.ts');
    const { readMapping } = await import('../reconciliation/mapping.ts');
    const { definition, save } = options;
    const mapping = definition === undefined ? null : readMapping(await readJson(definition));
    const tried = await tryMapping(work, account, { path: options['file'] ?? '', mapping, rowsMax: rowsTried });
    if (save !== undefined) {
      await saveMapping(work, account, { name: save, tried });
      await auditWork(context, account, { action: 'reconciliation.save_mapping', sent: { mapping: save } });
    }
    const isRead = tried.rows.some((row) => 'line' in row);
    const saved = save === undefined ? '' : `\n\nSaved as ${save}.`;
    return { text: `${triedText(tried)}${saved}`, data: triedToData(tried), exitCode: isRead ? 0 : 1 };
  },
};

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw new UsageError('The file of --definition cannot be read.');
  });
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new UsageError('The file of --definition is not JSON.');
  }
}

const run: Command = {
  name: 'reconcile run',
  usage: '--network <account> --day <YYYY-MM-DD> [--closing-balance <dalasi>]',
  summary: 'Reconcile a day: records, ledger and statement; opens cases and proves the float',
  details:
    '  Days since the last reconciled one come first. It may be run again, as after another import.\n' +
    '  --closing-balance is the network’s balance at the end of the day, where the lines have none.',
  async run(context, input) {
    const day = dayOf(input.options['day']);
    const { work, account } = await openAccount(context, input.options);
    const { requireStatement, runDay } = await import('../reconciliation/run-day.ts');
    const { listDifferences } = await import('../reconciliation/reconcile.ts');
    const { dayToData, differenceToData } = await import('../reconciliation/report.ts');
    const closingBalanceMinor = readAmount(input, 'closing-balance');
    const shown = new Map<string, ReturnType<typeof createProgress>>();
    const { 'closing-balance': closing } = input.options;
    const sent = { day, ...(closing !== undefined && { closing_balance: closing }) };
    const typed = closingBalanceMinor === undefined ? {} : { closingBalanceMinor };
    await requireStatement(work, account, day, typed);
    // Before the first line is booked: a run that is interrupted has booked some.
    await auditWork(context, account, { action: 'reconciliation.run', sent });
    const result = await runDay(work, account, day, {
      ...typed,
      onProgress: ({ day: current, compared, total }) => {
        const progress =
          shown.get(current) ?? createProgress(context.progressTo, { total, what: `lines and records of ${current}` });
        shown.set(current, progress);
        progress.show(Math.min(compared, total));
      },
    });
    for (const progress of shown.values()) progress.end();
    const page = { day, after: null, rowsMax: differencesMax };
    const differences = await listDifferences(work.db, account.railAccount, page);
    const text = [dayText(result), '', differencesText(differences)].join('\n');
    const data = { ...dayToData(result), items: differences.map(differenceToData) };
    return { text, data, exitCode: isProved(result) ? 0 : 1 };
  },
};

const differencesMax = 500;

function isProved({ unexplainedMinor }: { unexplainedMinor: bigint | null }): boolean {
  return unexplainedMinor === null || unexplainedMinor === 0n;
}

const dayCommand: Command = {
  name: 'reconcile day',
  usage: '<YYYY-MM-DD> [--network <account>] [--csv]',
  summary: 'Show the results of a day, of all networks or one',
  details: '  With --csv and --network: every line of the day with its record and what differs, as a table.',
  async run(context, { positionals, options, flags }) {
    const day = dayOf(positionals[0]);
    const { findDay, listDifferences, listResultsOfDay } = await import('../reconciliation/reconcile.ts');
    const { dayToData, differenceToData, reportCsv } = await import('../reconciliation/report.ts');
    const { db } = context;
    const account = options['network'] === undefined ? null : (await openAccount(context, options)).account;
    if (flags.has('csv')) {
      if (account === null) throw new UsageError('Name the account of the table: --network.');
      let text = '';
      for await (const part of reportCsv(db, account.railAccount, day)) text += part;
      return { text, data: { csv: text }, exitCode: 0 };
    }
    const found = account === null ? await listResultsOfDay(db, day) : [await findDay(db, account.railAccount, day)];
    const results = found.filter((each) => each !== undefined);
    const shown = [];
    for (const result of results) {
      const page = { day, after: null, rowsMax: differencesMax };
      shown.push({ result, differences: await listDifferences(db, result.railAccount, page) });
    }
    const texts = shown.flatMap(({ result, differences }) => [dayText(result), differencesText(differences), '']);
    const text = results.length === 0 ? `Nothing was reconciled on ${day}.` : texts.join('\n').trimEnd();
    const networks = shown.map(({ result, differences }) => ({
      ...dayToData(result),
      items: differences.map(differenceToData),
    }));
    return { text, data: { day, networks }, exitCode: results.every(isProved) ? 0 : 1 };
  },
};

const daysListed = 30;
const importsListed = 10;

const list: Command = {
  name: 'reconcile list',
  usage: '[--network <account>]',
  summary: 'List open differences, recent results and imports',
  async run(context, { options }) {
    const { listStatementAccounts } = await import('../reconciliation/account.ts');
    const { listDays, listDifferences, listImports, listMappings } = await import('../reconciliation/reconcile.ts');
    const { dayToData, differenceToData } = await import('../reconciliation/report.ts');
    const work = await context.moneyWork();
    const accounts =
      options['network'] === undefined
        ? [...(await listStatementAccounts(work, false)), ...(await listStatementAccounts(work, true))]
        : [(await openAccount(context, options)).account];
    const names = accounts.map(({ railAccount }) => railAccount);
    const { db } = context;
    const railAccount = options['network'] === undefined ? null : (names[0] ?? null);
    const days = await listDays(db, { testMode: null, railAccount, rowsMax: daysListed });
    const page = { day: null, after: null, rowsMax: differencesMax };
    const differences = [];
    const networks = [];
    for (const name of names) {
      differences.push(...(await listDifferences(db, name, page)));
      const imports = await listImports(db, name, importsListed);
      const mappings = (await listMappings(db, name)).map((mapping) => mapping.name);
      networks.push({
        network: name,
        mappings,
        imports: imports.map((each) => ({
          ...{ file: each.name, source: each.source, new: Number(each.linesNew), refused: Number(each.linesRefused) },
          finished: each.finishedAt !== null,
        })),
      });
    }
    const results = days.length === 0 ? 'Nothing was reconciled yet.' : days.map(dayText).join('\n');
    const data = { networks, days: days.map(dayToData), differences: differences.map(differenceToData) };
    return { text: [differencesText(differences), '', results].join('\n'), data, exitCode: 0 };
  },
};

const explainCommand: Command = {
  name: 'reconcile explain',
  usage: '<id>',
  summary: 'Show all sides of a difference, a payment, a transfer or a network’s transaction',
  async run(context, { positionals }) {
    const { explain } = await import('../reconciliation/explain.ts');
    const explanations = await explain(await context.moneyWork(), positionals[0] ?? '');
    const data = { sides: explanations.map(explanationToData) };
    return { text: explanationText(explanations), data, exitCode: 0 };
  },
};

export const reconcileCommands: readonly Command[] = [importCommand, tryCommand, run, dayCommand, list, explainCommand];

async function openAccount(
  context: CommandContext,
  options: CommandInput['options'],
): Promise<{ work: ReconciliationContext; account: StatementAccount }> {
  const work = await context.moneyWork();
  const { findStatementAccount } = await import('../reconciliation/account.ts');
  return { work, account: await findStatementAccount(work, options['network'] ?? '') };
}

/** Beside the work, which is many transactions: who does it, about which account. */
function auditWork(
  context: CommandContext,
  { railAccount, testMode }: StatementAccount,
  act: Pick<OperatorAct, 'action' | 'sent'>,
): Promise<void> {
  const object = { type: 'network_account', id: railAccount };
  return context.db.withTransaction(async (tx) => auditCommand(tx, context, { ...act, object, testMode }));
}

function dayOf(text = ''): string {
  if (isDay(text)) return text;
  throw new UsageError('A day is YYYY-MM-DD, such as 2026-11-20.');
}
