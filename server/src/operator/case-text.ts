import type { Case } from '../cases/case.ts';
import type { Choice, ResolutionStep } from '../cases/resolution.ts';
import { amountToJson } from '../kit/money.ts';
import { sanitizeLine } from '../kit/terminal-text.ts';

/** A case as `--json` prints it. */
export function caseToData(found: Case, merchants: ReadonlyMap<string, string>) {
  return {
    id: found.id,
    status: found.status,
    kind: found.kind,
    summary: found.summary,
    amount: amountToJson(found.amountMinor),
    currency: found.currency,
    merchant_id: found.merchantId,
    merchant: merchants.get(found.merchantId) ?? null,
    subject: `${found.subjectType} ${found.subjectId}`,
    reference: found.reference,
    transaction_id: found.transactionId === '' ? null : found.transactionId,
    reported_again: Number(found.reportedAgain),
    createdAt: found.createdAt.toISOString(),
    resolvedAt: found.resolvedAt?.toISOString() ?? null,
    resolution: found.resolution,
    proposal_id: found.proposalId,
  };
}

export function choiceToData({ resolution, effect, needsMoney, refusal }: Choice) {
  return { resolution, effect, possible: refusal === null, refusal, needs_transaction: needsMoney };
}

export function stepToData(step: ResolutionStep, names: ReadonlyMap<string, string> = new Map()) {
  return {
    id: step.id,
    step: step.step,
    proposal_id: step.proposalId,
    resolution: step.resolution,
    evidence: step.evidence,
    transaction_id: step.transactionId,
    amount: step.amountMinor === null ? null : amountToJson(step.amountMinor),
    operator_id: step.operatorId,
    operator: names.get(step.operatorId) ?? null,
    createdAt: step.createdAt.toISOString(),
  };
}

interface ShownCase extends ReturnType<typeof caseToData> {
  resolutions: ReturnType<typeof choiceToData>[];
  history: ReturnType<typeof stepToData>[];
}

/** The same as text, without empty fields. `amount` is written with its currency, as the list shows it. */
export function describeCase({ resolutions, history, ...facts }: ShownCase, amount: string): string {
  const { currency: _, ...shown } = { ...facts, amount };
  const rows = Object.entries(shown).filter(([, value]) => value !== null);
  const nameWidth = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.map(([name, value]) => `${name.padEnd(nameWidth)}${sanitizeLine(String(value))}`);
  if (resolutions.length > 0) {
    const width = Math.max(...resolutions.map(({ resolution }) => resolution.length));
    const choices = resolutions.map((choice) => `  ${choice.resolution.padEnd(width)}  ${choiceText(choice)}`);
    lines.push('', 'Resolutions', ...choices);
  }
  if (history.length > 0) lines.push('', 'History', ...history.map(stepText));
  return lines.join('\n');
}

function choiceText({ effect, refusal, needs_transaction: needsMoney }: ShownCase['resolutions'][number]): string {
  if (refusal !== null) return `Not possible now: ${sanitizeLine(refusal)}`;
  return needsMoney ? `${effect} Needs --transaction and --amount.` : effect;
}

function stepText(step: ShownCase['history'][number]): string {
  const money = step.amount === null ? '' : ` (transaction ${step.transaction_id}, ${step.amount})`;
  const evidence = step.evidence === null ? '' : `: ${step.evidence}`;
  const who = step.operator ?? step.operator_id;
  return `  ${sanitizeLine(`${step.createdAt} ${step.step} ${step.resolution}${money} by ${who}${evidence}`)}`;
}
