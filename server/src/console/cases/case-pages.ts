import { AppError } from '../../api/app-error.ts';
import type { Case } from '../../cases/case.ts';
import { findCaseById, listResolutionSteps } from '../../cases/list-cases.ts';
import { previewResolution } from '../../cases/preview-resolution.ts';
import { confirmResolution, listChoices, proposeResolution, withdrawProposal } from '../../cases/resolve-case.ts';
import type { Choice, ReportedMoney, ResolutionStep } from '../../cases/resolution.ts';
import { html, type Html } from '../../kit/html.ts';
import { isUuid } from '../../kit/ids.ts';
import { formatAmount } from '../../kit/money.ts';
import { netEffectOf, type BalanceChange } from '../../ledger/balances.ts';
import { findMerchantById } from '../../merchants/manage-keys.ts';
import type { Merchant } from '../../merchants/merchant.ts';
import { listOperators } from '../../operators/manage-operators.ts';
import { readAmount } from '../../kit/read-amount.ts';
import { foreignText } from '../../pages/page-text.ts';
import type { PageInput } from '../../portal/patterns/page-route.ts';
import { facts, recordHead, timeline } from '../../portal/patterns/record-page.ts';
import { inDalasi } from '../../portal/patterns/texts.ts';
import { audit } from '../audit/record.ts';
import { formRoutes, type ConsoleRoute } from '../console-route.ts';
import type { ConsoleVisit } from '../visit.ts';
import { ageText } from '../age.ts';
import { recordTimeline } from '../records/record-timeline.ts';
import { caseState, kindTexts } from './case-list.ts';
import { comparison, recordOfCase } from './evidence.ts';
import { stepOfCase } from './step-of-case.ts';

interface OpenedCase {
  found: Case;
  merchant: Merchant;
  choices: (Choice & { changes: BalanceChange[] | null })[];
  steps: readonly ResolutionStep[];
  operators: ReadonlyMap<string, string>;
}

/** Throws AppError `not_found`, also for a case of the other environment. */
async function loadCase(visit: ConsoleVisit, { params }: PageInput): Promise<OpenedCase> {
  const { db } = visit.money;
  const id = params['id'] ?? '';
  const found = isUuid(id) ? await findCaseById(db, id) : undefined;
  const merchant = found && (await findMerchantById(db, found.merchantId));
  if (!found || merchant?.testMode !== (visit.environment === 'test')) {
    throw new AppError('not_found', 'There is no such case in this environment.');
  }
  const choices = [];
  for (const choice of await listChoices(visit.cases, found)) {
    choices.push({ ...choice, changes: await previewResolution(visit.cases, found, choice.resolution) });
  }
  const operators = new Map((await listOperators(db)).map((operator) => [operator.id, operator.name]));
  return { found, merchant, choices, steps: await listResolutionSteps(db, merchant.id, found.id), operators };
}

function proposalOf({ found, steps }: OpenedCase): ResolutionStep | undefined {
  return steps.find(({ id }) => id === found.proposalId);
}

const show: ConsoleRoute = {
  path: '/cases/:id',
  action: 'records.read',
  async handle(visit, input) {
    const opened = await loadCase(visit, input);
    const { found, merchant, choices, steps, operators } = opened;
    const proposal = proposalOf(opened);
    const isOpen = found.status === 'open';
    const isOwn = proposal?.operatorId === visit.operator.id;
    const path = `/cases/${found.id}`;
    const record = await recordOfCase(visit, found, merchant.testMode);
    const inSuspense = await suspenseOf(visit, opened);
    const body = html`${recordHead(visit, {
      heading: kindTexts[found.kind],
      state: caseState(found),
      under: html`<p>${inDalasi(found.summary)}</p>`,
      actions: [
        isOpen && { href: `${path}/propose`, text: 'Propose', needs: 'cases.propose' },
        proposal !== undefined && !isOwn && { href: `${path}/confirm`, text: 'Confirm', needs: 'cases.confirm' },
        proposal !== undefined && { href: `${path}/withdraw`, text: 'Withdraw', needs: 'cases.propose' },
      ],
    })}
${proposal && html`<p class="notice wait">${operators.get(proposal.operatorId) ?? 'An operator'} proposes: ${proposal.resolution}.${reportedText(proposal)} ${isOwn ? 'Another operator has to confirm it.' : ''}</p>`}
${record && html`<section class="found"><h2>What differs</h2>${comparison(found, record)}</section>`}
<div class="columns"><section class="panel"><h2>Evidence</h2>${facts([
      ['Money', formatAmount(found.amountMinor)],
      ['Business', html`<a href="/operator/businesses/${merchant.businessId}">${foreignText(merchant.name)}</a>`],
      [
        'Record',
        record &&
          html`<a href="${visit.base}/records/${record.id}">${record.name} of ${formatAmount(record.amountMinor)}</a>`,
      ],
      [
        'All sides',
        found.subjectType !== 'difference'
          ? null
          : html`<a href="${visit.base}/reconciliation/explain?id=${found.subjectId}">Record, ledger and statement</a>`,
      ],
      ['In suspense', inSuspense > 0n ? formatAmount(inSuspense) : null],
      ['Open', isOpen ? ageText(found.createdAt, visit.now) : null],
      ['Network’s transaction', found.transactionId],
      ['Reference', found.reference],
      ['Reported again', found.reportedAgain > 0n ? `${found.reportedAgain} times` : null],
      ['Case id', found.id],
      ['Resolved as', found.resolution],
    ])}</section>
${isOpen && html`<section class="panel"><h2>What each way does</h2>${choices.map(choicePanel)}</section>`}</div>
${
  steps.length > 0 &&
  timeline(
    visit,
    steps.map((step) => ({
      at: step.createdAt,
      text: html`${operators.get(step.operatorId) ?? step.operatorId} ${step.step} ${step.resolution}${step.evidence !== null && html`: ${foreignText(step.evidence)}`}${reportedText(step)}`,
    })),
    { heading: 'Who decided what' },
  )
}
${record && (await recordTimeline(visit, record))}`;
    return { title: kindTexts[found.kind], body };
  },
};

/** What the case's record still has in suspense, in bututs. */
async function suspenseOf({ money }: ConsoleVisit, { found, merchant }: OpenedCase): Promise<bigint> {
  const { currency } = merchant;
  const effects = await netEffectOf(money.db, { merchantId: merchant.id, currency, sourceIds: [found.subjectId] });
  return effects.get('suspense') ?? 0n;
}

function choicePanel({ resolution, effect, refusal, changes }: OpenedCase['choices'][number]): Html {
  return html`<h3>${resolution}</h3><p>${inDalasi(refusal === null ? effect : `Not possible now: ${refusal}`)}</p>${effectTable(changes)}`;
}

/** Balances before and after. */
function effectTable(changes: readonly BalanceChange[] | null): Html {
  if (changes === null) return html``;
  if (changes.length === 0) return html`<p class="hint">No money moves.</p>`;
  return html`<dl class="facts">${changes.map(
    ({ account, beforeMinor, afterMinor }) =>
      html`<div><dt><code>${account}</code></dt><dd>${formatAmount(beforeMinor)} &gt; ${formatAmount(afterMinor)}</dd></div>`,
  )}</dl>`;
}

/** The same code as the commands, with the audit entry in the transaction of the step. */
function auditedCases(visit: ConsoleVisit, { merchant }: OpenedCase) {
  return {
    ...visit.cases,
    alsoWrite: (tx: Parameters<typeof audit>[0], step: ResolutionStep) => audit(tx, visit, stepOfCase(merchant, step)),
  };
}

const propose = formRoutes<OpenedCase>({
  path: '/cases/:id/propose',
  action: 'cases.propose',
  load: loadCase,
  view: ({ found, choices }) => ({
    heading: 'Propose a resolution',
    effect: html`<p>${inDalasi(found.summary)}</p><h2>What each way does</h2>${choices.map(choicePanel)}<p>Nothing happens until another operator confirms it.</p>`,
    fields: [
      {
        kind: 'select',
        name: 'resolution',
        label: 'Resolution',
        options: choices.map(({ resolution }) => ({ value: resolution, text: resolution })),
      },
      {
        kind: 'area',
        name: 'evidence',
        label: 'Evidence',
        isRequired: true,
        hint: 'The network’s statement, its reference, the date.',
      },
      ...(choices.some(({ needsMoney }) => needsMoney)
        ? ([
            { kind: 'text', name: 'transaction', label: 'Network’s transaction, where the way needs it' },
            { kind: 'amount', name: 'amount', label: 'Its amount in dalasi' },
          ] as const)
        : []),
    ],
    button: 'Propose the resolution',
    back: { href: `/cases/${found.id}`, text: 'Back to the case' },
  }),
  resultOf: (opened, visit, { form }) => (hasProposed(opened, visit, form) ? `/cases/${opened.found.id}` : undefined),
  async submit(visit, { subject, input: { form } }) {
    const { resolution = '', evidence = '' } = form;
    const caseId = subject.found.id;
    const proposed = { caseId, resolution, evidence, reported: reportedMoney(form), operatorId: visit.operator.id };
    await proposeResolution(auditedCases(visit, subject), proposed);
  },
});

/** The money that a proposal books, where its way needs it: whoever confirms it confirms this. */
function reportedText({ transactionId, amountMinor }: ResolutionStep): Html {
  if (transactionId === null || amountMinor === null) return html``;
  return html` The network’s transaction: <strong>${foreignText(transactionId)}</strong>, <strong>${formatAmount(amountMinor)}</strong>.`;
}

function reportedMoney(form: PageInput['form']): ReportedMoney | null {
  const transactionId = (form['transaction'] ?? '').trim();
  const typed = readAmount(form['amount'] ?? '');
  return transactionId === '' || !('amountMinor' in typed) ? null : { transactionId, amountMinor: typed.amountMinor };
}

/** Whether the proposal that waits is this operator's, and says what the form says. */
function hasProposed(opened: OpenedCase, { operator }: ConsoleVisit, form: PageInput['form']): boolean {
  const proposal = proposalOf(opened);
  const { transactionId, amountMinor } = reportedMoney(form) ?? { transactionId: null, amountMinor: null };
  return (
    proposal?.operatorId === operator.id &&
    proposal.resolution === form['resolution'] &&
    proposal.evidence === form['evidence']?.trim() &&
    proposal.transactionId === transactionId &&
    proposal.amountMinor === amountMinor
  );
}

/** Whether this operator has ended the last proposal so. */
function hasDecided(opened: OpenedCase, { operator }: ConsoleVisit, step: ResolutionStep['step']): boolean {
  const last = opened.steps.at(-1);
  return proposalOf(opened) === undefined && last?.step === step && last.operatorId === operator.id;
}

const confirm = formRoutes<OpenedCase>({
  path: '/cases/:id/confirm',
  action: 'cases.confirm',
  load: loadCase,
  view: (opened) => {
    const proposal = proposalOf(opened);
    const choice = opened.choices.find(({ resolution }) => resolution === proposal?.resolution);
    return {
      heading: 'Confirm this resolution?',
      effect: html`<p>${inDalasi(opened.found.summary)}</p>
${proposal && html`<p>${opened.operators.get(proposal.operatorId) ?? 'An operator'} proposes ${proposal.resolution}: ${proposal.evidence !== null && foreignText(proposal.evidence)}${reportedText(proposal)}</p>`}
${choice && html`<h2>What it does</h2>${choicePanel(choice)}`}<p>This cannot be undone.</p>`,
      button: `Confirm ${formatAmount(opened.found.amountMinor)}`,
      isDanger: true,
      back: { href: `/cases/${opened.found.id}`, text: 'Keep it open' },
    };
  },
  resultOf: (opened, visit) => (hasDecided(opened, visit, 'confirmed') ? `/cases/${opened.found.id}` : undefined),
  async submit(visit, { subject }) {
    const caseId = subject.found.id;
    await confirmResolution(auditedCases(visit, subject), { caseId, operatorId: visit.operator.id });
  },
});

const withdraw = formRoutes<OpenedCase>({
  path: '/cases/:id/withdraw',
  action: 'cases.propose',
  load: loadCase,
  view: ({ found }) => ({
    heading: 'Withdraw the proposal?',
    effect: html`<p>The case stays open. The proposal stays in its history.</p>`,
    button: 'Withdraw the proposal',
    back: { href: `/cases/${found.id}`, text: 'Keep it' },
  }),
  resultOf: (opened, visit) => (hasDecided(opened, visit, 'withdrawn') ? `/cases/${opened.found.id}` : undefined),
  async submit(visit, { subject }) {
    const caseId = subject.found.id;
    await withdrawProposal(auditedCases(visit, subject), { caseId, operatorId: visit.operator.id });
  },
});

export const casePages: readonly ConsoleRoute[] = [show, ...propose, ...confirm, ...withdraw];
