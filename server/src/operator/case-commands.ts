import { findCaseById, listCases } from '../cases/list-cases.ts';
import type { Case } from '../cases/open-case.ts';
import { isUuid } from '../kit/ids.ts';
import { amountToJson, formatAmount } from '../kit/money.ts';
import { table, UsageError } from './command.ts';
import type { Command } from './command.ts';

const casesMax = 500;

const list: Command = {
  name: 'cases list',
  usage: '[--status open|resolved|all]',
  summary: 'List what waits for a person, newest first',
  options: { status: { type: 'string', required: false } },
  positionals: 0,
  async run({ db }, { options }) {
    const cases = await listCases(db, statusOf(options['status'] ?? 'open'), casesMax);
    const rows = cases.map((found) => [
      found.id,
      found.status,
      found.kind,
      money(found),
      found.createdAt.toISOString(),
    ]);
    const text = cases.length === 0 ? 'No cases.' : table(['CASE', 'STATUS', 'KIND', 'AMOUNT', 'OPENED'], rows);
    return { text, data: cases.map(toData), exitCode: 0 };
  },
};

const show: Command = {
  name: 'cases show',
  usage: '<case id>',
  summary: 'Show one case',
  options: {},
  positionals: 1,
  async run({ db }, { positionals }) {
    const id = positionals[0] ?? '';
    const found = isUuid(id) ? await findCaseById(db, id) : undefined;
    if (!found) throw new UsageError(`There is no case ${id}. See: cases list`);
    const lines = Object.entries(toData(found)).map(([name, value]) => `${name.padEnd(14)}${String(value ?? '')}`);
    return { text: lines.join('\n'), data: toData(found), exitCode: 0 };
  },
};

export const caseCommands: readonly Command[] = [list, show];

function statusOf(status: string): Case['status'] | null {
  if (status === 'all') return null;
  if (status === 'open' || status === 'resolved') return status;
  throw new UsageError(`--status is open, resolved or all, not ${status}.`);
}

function toData(found: Case) {
  return {
    id: found.id,
    status: found.status,
    kind: found.kind,
    summary: found.summary,
    amount: amountToJson(found.amountMinor),
    currency: found.currency,
    merchant_id: found.merchantId,
    subject: `${found.subjectType} ${found.subjectId}`,
    reference: found.reference,
    createdAt: found.createdAt.toISOString(),
    resolvedAt: found.resolvedAt?.toISOString() ?? null,
  };
}

function money(found: Case): string {
  return `${found.currency} ${formatAmount(found.amountMinor, { style: 'plain' })}`;
}
