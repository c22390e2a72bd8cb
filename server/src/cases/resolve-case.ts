import { AppError, fieldError } from '../api/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Queryable, Transaction } from '../kit/db.ts';
import type { Case } from './case.ts';
import {
  closeCase,
  findCaseById,
  insertResolutionStep,
  listResolutionSteps,
  lockOpenCasesOfSubject,
  updateProposal,
} from './queries.ts';
import {
  throwIfRefused,
  type CaseResolver,
  type Choice,
  type Confirmation,
  type ResolutionStep,
  type ReportedMoney,
} from './resolution.ts';

export interface ResolveContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** The resolutions of every kind of case, from the parts that own the records. */
  resolvers: readonly CaseResolver[];
  /** False for a revoked operator, whose proposals cannot be confirmed. */
  isOperator: (db: Queryable, operatorId: string) => Promise<boolean>;
  /** Writes in the transaction of each step, such as its audit entry. */
  alsoWrite?: (tx: Transaction, step: ResolutionStep) => void;
}

export interface NewProposal {
  caseId: string;
  resolution: string;
  evidence: string;
  reported: ReportedMoney | null;
  operatorId: string;
}

const evidenceLengthMin = 10;
const evidenceLengthMax = 2_000;

/** The resolutions of a case, each with its effect or why it is not possible now; none once the case is resolved. */
export async function listChoices(context: ResolveContext, found: Case): Promise<Choice[]> {
  if (found.status !== 'open') return [];
  const choices = resolversOf(context, found).map(async (resolver) => {
    const { resolution, effect, needsMoney } = resolver;
    return { resolution, effect, needsMoney, refusal: await resolver.refusal(found) };
  });
  return Promise.all(choices);
}

/**
 * Records an operator's proposal to resolve a case. Nothing else happens until another operator confirms it. A pending
 * proposal is replaced and stays in the history.
 *
 * Throws AppError `not_found`, `invalid_request` and `state_conflict`.
 */
export async function proposeResolution(context: ResolveContext, proposed: NewProposal): Promise<ResolutionStep> {
  const found = await findOpenCase(context.db, proposed.caseId);
  const resolver = resolverOf(context, found, proposed.resolution);
  const evidence = proposed.evidence.trim();
  if (evidence.length < evidenceLengthMin || evidence.length > evidenceLengthMax) {
    const message = `Send evidence of ${evidenceLengthMin} to ${evidenceLengthMax} characters: the network’s statement, its reference, the date.`;
    throw fieldError('invalid_request', 'evidence', message);
  }
  checkReportedMoney(resolver, proposed.reported);
  throwIfRefused(await resolver.refusal(found));
  const id = context.newId();
  const step = stepOf(found, { id, step: 'proposed', proposalId: id, ...proposed, evidence }, context.clock.now());
  await context.db.withTransaction(async (tx) => {
    if ((await updateProposal(tx, found, found.proposalId, id)) === 0) throw changedMeanwhile(found);
    tx.send(insertResolutionStep(step));
    context.alsoWrite?.(tx, step);
  });
  return step;
}

/**
 * Carries out another operator's proposal: the record, the ledger and the case in one transaction. Of two concurrent
 * confirmations, one succeeds and the other is refused.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function confirmResolution(
  context: ResolveContext,
  { caseId, operatorId }: { caseId: string; operatorId: string },
): Promise<ResolutionStep> {
  const found = await findOpenCase(context.db, caseId);
  const proposal = await findProposal(context.db, found);
  if (proposal.operatorId === operatorId) {
    throw conflict('You proposed this yourself. Another operator has to confirm it.');
  }
  const resolver = resolverOf(context, found, proposal.resolution);
  const carryOut = await resolver.prepare(found, reportedMoneyOf(proposal));
  return context.db.withTransaction(async (tx) => {
    const open = await lockOpenCasesOfSubject(tx, found.merchantId, found.subjectId);
    const locked = open.find(({ id }) => id === found.id);
    if (locked?.proposalId !== proposal.id) throw changedMeanwhile(found);
    if (!(await context.isOperator(tx, proposal.operatorId))) {
      throw conflict('The operator who proposed this has been revoked. Withdraw the proposal and propose it again.');
    }
    const confirmation: Confirmation = { found: locked, proposal, operatorId };
    await carryOut(tx, confirmation);
    const step = await endCase(tx, context, confirmation, { ...locked, step: 'confirmed', evidence: null });
    context.alsoWrite?.(tx, step);
    return step;
  });
}

/**
 * Withdraws a pending proposal; any operator may.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function withdrawProposal(
  context: ResolveContext,
  { caseId, operatorId }: { caseId: string; operatorId: string },
): Promise<ResolutionStep> {
  const found = await findOpenCase(context.db, caseId);
  const { resolution, id: proposalId } = await findProposal(context.db, found);
  const id = context.newId();
  const step = stepOf(found, { id, step: 'withdrawn', proposalId, resolution, operatorId }, context.clock.now());
  await context.db.withTransaction(async (tx) => {
    if ((await updateProposal(tx, found, proposalId, null)) === 0) throw changedMeanwhile(found);
    tx.send(insertResolutionStep(step));
    context.alsoWrite?.(tx, step);
  });
  return step;
}

/** Closes another open case about the same record, which a confirmed resolution has ended too. */
export async function closeWith(
  tx: Transaction,
  context: Pick<ResolveContext, 'clock' | 'newId'>,
  confirmation: Confirmation,
  other: Case,
): Promise<void> {
  const evidence = `Closed with case ${confirmation.found.id}.`;
  await endCase(tx, context, confirmation, { ...other, step: 'closed', evidence });
}

async function endCase(
  tx: Transaction,
  context: Pick<ResolveContext, 'clock' | 'newId'>,
  { proposal, operatorId }: Confirmation,
  ended: Case & Pick<ResolutionStep, 'step' | 'evidence'>,
): Promise<ResolutionStep> {
  const { merchantId, id } = ended;
  const { resolution, id: proposalId } = proposal;
  const now = context.clock.now();
  assert((await closeCase(tx, { merchantId, id, resolution, resolvedAt: now })) === 1, 'a locked case is closed once');
  const { step, evidence } = ended;
  const recorded = stepOf(ended, { id: context.newId(), step, proposalId, resolution, evidence, operatorId }, now);
  tx.send(insertResolutionStep(recorded));
  return recorded;
}

function stepOf(
  { merchantId, id: caseId }: Pick<Case, 'merchantId' | 'id'>,
  recorded: Pick<ResolutionStep, 'id' | 'step' | 'proposalId' | 'resolution' | 'operatorId'> & {
    evidence?: string | null;
    reported?: ReportedMoney | null;
  },
  createdAt: Date,
): ResolutionStep {
  return {
    merchantId,
    caseId,
    id: recorded.id,
    step: recorded.step,
    proposalId: recorded.proposalId,
    resolution: recorded.resolution,
    evidence: recorded.evidence ?? null,
    transactionId: recorded.reported?.transactionId ?? null,
    amountMinor: recorded.reported?.amountMinor ?? null,
    operatorId: recorded.operatorId,
    createdAt,
  };
}

async function findOpenCase(db: Database, caseId: string): Promise<Case> {
  const found = await findCaseById(db, caseId);
  if (!found) throw new AppError('not_found', `There is no case ${caseId}.`);
  if (found.status !== 'open') throw conflict(`The case is already resolved, as ${found.resolution}.`);
  return found;
}

async function findProposal(db: Database, found: Case): Promise<ResolutionStep> {
  if (found.proposalId === null) throw conflict('No resolution is proposed for this case.');
  const steps = await listResolutionSteps(db, found.merchantId, found.id);
  const proposal = steps.find(({ id }) => id === found.proposalId);
  assert(proposal, 'a proposal is stored with the case that names it');
  return proposal;
}

function resolversOf({ resolvers }: ResolveContext, { subjectType, kind }: Case): CaseResolver[] {
  return resolvers.filter((resolver) => resolver.subjectType === subjectType && resolver.kind === kind);
}

function resolverOf(context: ResolveContext, found: Case, resolution: string): CaseResolver {
  const possible = resolversOf(context, found);
  const resolver = possible.find((candidate) => candidate.resolution === resolution);
  if (resolver) return resolver;
  const names = possible.map((candidate) => candidate.resolution).join(' or ');
  throw fieldError('invalid_request', 'resolution', `Resolve a case of ${found.kind} as ${names}.`);
}

function checkReportedMoney({ resolution, needsMoney }: CaseResolver, reported: ReportedMoney | null): void {
  if (needsMoney === (reported !== null)) return;
  const message = needsMoney
    ? `To resolve it as ${resolution}, add the network's transaction and its amount.`
    : `To resolve it as ${resolution}, leave out transaction and amount.`;
  throw fieldError('invalid_request', 'transaction', message);
}

function reportedMoneyOf({ transactionId, amountMinor }: ResolutionStep): ReportedMoney | null {
  return transactionId === null || amountMinor === null ? null : { transactionId, amountMinor };
}

function changedMeanwhile({ id }: Case): AppError {
  return conflict(`Another operator has just changed case ${id}. Look at it again.`);
}

function conflict(message: string): AppError {
  return new AppError('state_conflict', message);
}
