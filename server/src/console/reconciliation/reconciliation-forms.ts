import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fieldError } from '../../api/app-error.ts';
import type { OperatorAct } from '../../audit/operator-act.ts';
import { addMs, dayMs, utcDay } from '../../kit/clock.ts';
import { html } from '../../kit/html.ts';
import { isDay } from '../../kit/time-or-day.ts';
import { readAmount } from '../../kit/read-amount.ts';
import type { Field } from '../../portal/patterns/fields.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { listStatementAccounts, type StatementAccount } from '../../reconciliation/account.ts';
import { importFile } from '../../reconciliation/import-file.ts';
import { listMappings } from '../../reconciliation/reconcile.ts';
import { requireStatement, runDay } from '../../reconciliation/run-day.ts';
import { audit } from '../audit/record.ts';
import { formRoutes } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';

// A hundred thousand lines; larger files are imported by the command.
const fileBytesMax = 24 * 1_024 * 1_024;

interface Accounts {
  accounts: readonly StatementAccount[];
  mappings: readonly string[];
  today: string;
}

async function loadAccounts({ money, environment, now }: ConsoleVisit): Promise<Accounts> {
  const accounts = await listStatementAccounts(money, environment === 'test');
  const names = [];
  for (const { railAccount } of accounts)
    names.push(...(await listMappings(money.db, railAccount)).map(({ name }) => name));
  return { accounts, mappings: [...new Set(names)], today: utcDay(addMs(now, -dayMs)) };
}

function accountField({ accounts }: Accounts): Field {
  const options = accounts.map(({ railAccount }) => ({ value: railAccount, text: railAccount }));
  return { kind: 'select', name: 'network', label: 'Account at the network', options, isRequired: true };
}

function chosenAccount({ accounts }: Accounts, form: PageInput['form']): StatementAccount {
  const found = accounts.find(({ railAccount }) => railAccount === form['network']);
  if (!found) throw fieldError('invalid_request', 'network', 'Choose an account.');
  return found;
}

const back = { href: '/reconciliation', text: 'Back to the days' };
const shared = { action: 'ledger.verify', load: loadAccounts } as const;

const importForm = formRoutes<Accounts>({
  ...{ ...shared, path: '/reconciliation/import', uploadBytesMax: fileBytesMax },
  view: (subject) => ({
    heading: 'Import a statement',
    effect: html`<p>CSV or XLSX. Each line is stored once, whatever files it stands in; rows that are no lines are refused with a reason. No money moves.</p>`,
    fields: [
      accountField(subject),
      {
        kind: 'select',
        name: 'mapping',
        label: 'Mapping',
        options: [
          { value: '', text: 'The only one, or usual headings' },
          ...subject.mappings.map((name) => ({ value: name, text: name })),
        ],
        hint: 'Mappings are tried and saved with the command reconcile try.',
      },
      { kind: 'file', name: 'lines', label: 'File', accept: '.csv,.xlsx,.txt', isRequired: true },
    ],
    button: 'Import the statement',
    back,
  }),
  async submit(visit, { subject, input: { form, files } }) {
    const account = chosenAccount(subject, form);
    const bytes = files['lines'];
    if (!bytes || bytes.length === 0) throw fieldError('invalid_request', 'lines', 'Choose a file.');
    const { mapping = '' } = form;
    // Before the first line: an import that is interrupted has stored some.
    await recordAct(visit, account, { action: 'reconciliation.import', sent: { network: account.railAccount } });
    const imported = await withFile(bytes, (path) =>
      importFile(visit.money, account, { path, mapping: mapping === '' ? null : mapping }),
    );
    const { id, linesNew, linesKnown, linesRefused, refusals, firstDay, lastDay } = imported;
    await visit.money.db.withTransaction(async (tx) =>
      audit(tx, visit, {
        ...{ action: 'reconciliation.import_result', testMode: account.testMode, object: { type: 'statement', id } },
        sent: { network: account.railAccount, new: Number(linesNew), refused: Number(linesRefused) },
      }),
    );
    const days = firstDay === null ? '' : `Days ${firstDay} to ${lastDay}.`;
    const body = html`<header class="head"><h1>Imported</h1></header>
<section class="panel"><p>${linesNew} new lines, ${linesKnown} known, ${linesRefused} refused. ${days}</p>
${imported.isRepeated && html`<p>This file was imported before; nothing was read again.</p>`}
${refusals.length > 0 && html`<ul>${refusals.map(({ rowNumber, reason }) => html`<li>Row ${rowNumber}: ${reason}</li>`)}</ul>`}
<p class="actions"><a class="button small" href="${visit.base}/reconciliation/run">Reconcile a day</a>
<a class="button small plain" href="${visit.base}/reconciliation">All days</a></p></section>`;
    return { title: 'Imported', body };
  },
});

/** Files are read as streams, so an upload is on the disk while it is imported. */
async function withFile<Result>(bytes: Uint8Array, read: (path: string) => Promise<Result>): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), 'dalasi-statement-'));
  try {
    const path = join(directory, 'upload');
    await writeFile(path, bytes, { mode: 0o600 });
    return await read(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

const runForm = formRoutes<Accounts>({
  ...{ ...shared, path: '/reconciliation/run' },
  view: (subject) => ({
    heading: 'Reconcile a day',
    effect: html`<p>Compares records, ledger and statement. What a line proves is booked, what nobody claims goes to unmatched, and what differs opens a case. It may be repeated.</p>`,
    fields: [
      accountField(subject),
      { kind: 'date', name: 'day', label: 'Day', isRequired: true },
      {
        kind: 'amount',
        name: 'closing_balance',
        label: 'Network’s balance at the end of the day',
        hint: 'Only where the statement’s lines have no balance.',
      },
    ],
    values: { day: subject.today },
    button: 'Reconcile the day',
    back,
  }),
  async submit(visit, { subject, input: { form } }) {
    const account = chosenAccount(subject, form);
    const { day = '', closing_balance: typed = '' } = form;
    if (!isDay(day)) throw fieldError('invalid_request', 'day', 'Choose a day.');
    const closing = typed.trim() === '' ? null : readAmount(typed);
    if (closing && !('amountMinor' in closing)) {
      throw fieldError('invalid_request', 'closing_balance', 'Write an amount such as 1250.00.');
    }
    const options = closing ? { closingBalanceMinor: closing.amountMinor } : {};
    await requireStatement(visit.money, account, day, options);
    const sent = { network: account.railAccount, day, ...(closing && { closing_balance: typed.trim() }) };
    // Before the first line is booked: a run that is interrupted has booked some.
    await recordAct(visit, account, { action: 'reconciliation.run', sent });
    await runDay(visit.money, account, day, options);
    return `/reconciliation/day?network=${encodeURIComponent(account.railAccount)}&day=${day}`;
  },
});

/** Writes the audit entry of work in many transactions, which begins now. */
async function recordAct(
  visit: ConsoleVisit,
  { railAccount, testMode }: StatementAccount,
  act: Pick<OperatorAct, 'action' | 'sent'>,
): Promise<void> {
  const object = { type: 'network_account', id: railAccount };
  await visit.money.db.withTransaction(async (tx) => audit(tx, visit, { ...act, testMode, object }));
}

export const reconciliationForms = [...importForm, ...runForm];
