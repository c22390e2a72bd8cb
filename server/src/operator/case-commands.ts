import { findCaseById, listCases, listResolutionSteps } from '../cases/list-cases.ts';
import type { Case } from '../cases/case.ts';
import {
  confirmResolution,
  listChoices,
  proposeResolution,
  withdrawProposal,
  type ResolveContext,
} from '../cases/resolve-case.ts';
import type { ReportedMoney } from '../cases/resolution.ts';
import { stepOfCase } from '../console/cases/step-of-case.ts';
import { listOwed, owedDescriptions } from '../debts/what-is-owed.ts';
import { assert } from '../kit/assert.ts';
import { table, UsageError, type CommandInput } from '../kit/command-line.ts';
import { isUuid } from '../kit/ids.ts';
import { moneyText } from '../kit/money.ts';
import { pagesOf } from '../kit/pages-of.ts';
import { findMerchantById } from '../merchants/manage-keys.ts';
import { listOperators } from '../operators/manage-operators.ts';
import { readAmount } from './amount-option.ts';
import { auditCommand } from './audit-command.ts';
import { caseToData, choiceToData, describeCase, stepToData } from './case-text.ts';
import type { Command, CommandContext } from './command.ts';
import { merchantNames } from './merchant-of.ts';
import { requireOperator } from './operator-commands.ts';

const pageRows = 1_000;

const list: Command = {
  name: 'cases list',
  usage: '[--status open|resolved|all]',
  summary: 'List cases, newest first, and all debts',
  async run({ db }, { options }) {
    const status = statusOf(options['status'] ?? 'open');
    const pages = pagesOf<Case>(pageRows, (last) => listCases(db, status, pageRows, last?.id ?? null));
    const cases: Case[] = [];
    for await (const page of pages) cases.push(...page);
    const merchants = await merchantNames(db);
    // Without the time of day and with the name of the merchant last, the columns up to it fit into 80.
    const rows = cases.map((found) => [
      found.id,
      found.kind,
      moneyText(found),
      found.createdAt.toISOString().slice(0, '2026-11-20'.length),
      caseState(found),
      merchants.get(found.merchantId) ?? found.merchantId,
    ]);
    const headings = ['CASE', 'KIND', 'AMOUNT', 'OPENED', 'STATUS', 'MERCHANT'];
    const owed = await describeOwed(db, merchants);
    const text = (cases.length === 0 ? 'No cases.' : table(headings, rows)) + owed;
    return { text, data: cases.map((found) => caseToData(found, merchants)), exitCode: 0 };
  },
};

/** `proposed` is an open case whose proposal another operator has to confirm. */
function caseState({ status, proposalId }: Case): string {
  return status === 'open' && proposalId !== null ? 'proposed' : status;
}

/** A line for each debt, with or without a case; empty without debts. */
async function describeOwed(db: CommandContext['db'], merchants: ReadonlyMap<string, string>): Promise<string> {
  const rows = (await listOwed(db)).map((owed) => [
    merchants.get(owed.merchantId) ?? owed.merchantId,
    owed.account,
    moneyText(owed),
    owed.since.toISOString().slice(0, '2026-11-20'.length),
    owedDescriptions[owed.kind].who,
    owedDescriptions[owed.kind].endsBy,
  ]);
  return rows.length === 0 ? '' : `\n\n${table(['MERCHANT', 'ACCOUNT', 'OWED', 'SINCE', 'DEBT', 'ENDS WHEN'], rows)}`;
}

const show: Command = {
  name: 'cases show',
  usage: '<case id>',
  summary: 'Show a case, its possible resolutions and its history',
  async run(context, { positionals }) {
    const found = await requireCase(context, positionals[0]);
    const choices = await listChoices(await context.caseWork(), found);
    const steps = await listResolutionSteps(context.db, found.merchantId, found.id);
    const names = new Map((await listOperators(context.db)).map(({ id, name }) => [id, name]));
    const data = {
      ...caseToData(found, await merchantNames(context.db)),
      resolutions: choices.map(choiceToData),
      history: steps.map((step) => stepToData(step, names)),
    };
    return { text: describeCase(data, moneyText(found)), data, exitCode: 0 };
  },
};

const resolve: Command = {
  name: 'cases resolve',
  usage: '<case id> --as <resolution> --evidence <text> [--transaction <id> --amount <dalasi>]',
  summary: 'Propose a resolution; another operator confirms it',
  async run(context, input) {
    const { work, ...request } = await openStep(context, input);
    const { as: resolution = '', evidence = '' } = input.options;
    const step = await proposeResolution(work, {
      ...request,
      resolution,
      evidence,
      reported: readReportedMoney(input),
    });
    const text = `Proposed: ${resolution}. Another operator confirms it with: npm run operator -- cases confirm ${request.caseId}`;
    return { text, data: stepToData(step), exitCode: 0 };
  },
};

const confirm: Command = {
  name: 'cases confirm',
  usage: '<case id>',
  summary: 'Carry out another operator’s proposal, closing the case',
  async run(context, input) {
    const { work, ...request } = await openStep(context, input);
    const step = await confirmResolution(work, request);
    return { text: `Case ${request.caseId} is resolved: ${step.resolution}.`, data: stepToData(step), exitCode: 0 };
  },
};

const withdraw: Command = {
  name: 'cases withdraw',
  usage: '<case id>',
  summary: 'Withdraw a proposal that nobody has confirmed',
  async run(context, input) {
    const { work, ...request } = await openStep(context, input);
    const step = await withdrawProposal(work, request);
    return {
      text: `Withdrawn: ${step.resolution}. Case ${request.caseId} is open.`,
      data: stepToData(step),
      exitCode: 0,
    };
  },
};

export const caseCommands: readonly Command[] = [list, show, resolve, confirm, withdraw];

/** Who does a step of which case, and the work on it, which writes the audit entry in the transaction of the step. */
async function openStep(
  context: CommandContext,
  { positionals }: CommandInput,
): Promise<{ caseId: string; operatorId: string; work: ResolveContext }> {
  const operator = await requireOperator(context);
  const { id: caseId, merchantId } = await requireCase(context, positionals[0]);
  const merchant = await findMerchantById(context.db, merchantId);
  assert(merchant, 'a case is of a merchant');
  const work: ResolveContext = {
    ...(await context.caseWork()),
    alsoWrite: (tx, step) => auditCommand(tx, context, stepOfCase(merchant, step), operator),
  };
  return { caseId, operatorId: operator.id, work };
}

function statusOf(status: string): Case['status'] | null {
  if (status === 'all') return null;
  if (status === 'open' || status === 'resolved') return status;
  throw new UsageError(`--status is open, resolved or all, not ${status}.`);
}

async function requireCase({ db }: CommandContext, id = ''): Promise<Case> {
  const found = isUuid(id) ? await findCaseById(db, id) : undefined;
  if (!found) throw new UsageError(`There is no case ${id}. See: cases list`);
  return found;
}

const transactionLengthMax = 200;

function readReportedMoney(input: CommandInput): ReportedMoney | null {
  const transaction = input.options['transaction'];
  const amountMinor = readAmount(input, 'amount');
  if (transaction === undefined && amountMinor === undefined) return null;
  const transactionId = transaction?.trim() ?? '';
  if (transactionId === '' || transactionId.length > transactionLengthMax || amountMinor === undefined) {
    throw new UsageError('Give both --transaction (the network’s id) and --amount (in dalasi), or neither.');
  }
  if (amountMinor === 0n)
    throw new UsageError('--amount is the amount that the network reports as paid; it is more than 0.');
  return { transactionId, amountMinor };
}
