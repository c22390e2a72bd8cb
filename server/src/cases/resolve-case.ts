import { AppError, fieldError } from '../kit/app-error.ts';
import { assert } from '../kit/assert.ts';
import type { Clock } from '../kit/clock.ts';
import type { Database, Transaction } from '../kit/db.ts';
import type { Case } from './case.ts';
import {
  closeCase,
  findCaseById,
  insertResolutionStep,
  listResolutionSteps,
  lockOpenCasesOfSubject,
  updateProposal,
} from './queries.ts';
import { refuseWhere } from './resolution.ts';
import type { CaseResolver, Choice, Confirmation, ResolutionStep, ReportedMoney } from './resolution.ts';

/** What resolving works with. */
export interface ResolveContext {
  db: Database;
  clock: Clock;
  newId: () => string;
  /** Every way to resolve every kind of case, from the parts that own the records. */
  resolvers: readonly CaseResolver[];
  /** Whether an operator still is one: what a revoked one had proposed is not carried out. */
  isOperator: (operatorId: string) => Promise<boolean>;
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

/** The ways to resolve a case, each with what it does or why it cannot be done; none once it is resolved. */
export async function listChoices(context: ResolveContext, found: Case): Promise<Choice[]> {
  if (found.status !== 'open') return [];
  const choices = resolversOf(context, found).map(async (resolver) => {
    const { resolution, effect, needsMoney } = resolver;
    return { resolution, effect, needsMoney, refusal: await resolver.refusal(found) };
  });
  return Promise.all(choices);
}

/**
 * Writes down how an operator means to resolve a case. Nothing else happens until another one confirms it. A proposal
 * that still waited is replaced and stays in the history.
 *
 * Throws AppError `not_found`, `invalid_request` and `state_conflict`.
 */
export async function proposeResolution(context: ResolveContext, proposed: NewProposal): Promise<ResolutionStep> {
  const found = await findOpenCase(context, proposed.caseId);
  const resolver = resolverOf(context, found, proposed.resolution);
  const evidence = proposed.evidence.trim();
  if (evidence.length < evidenceLengthMin || evidence.length > evidenceLengthMax) {
    const message = `The evidence has ${evidenceLengthMin} to ${evidenceLengthMax} characters: what the network said, its reference, the date.`;
    throw fieldError('invalid_request', 'evidence', message);
  }
  checkReportedMoney(resolver, proposed.reported);
  refuseWhere(await resolver.refusal(found));
  const id = context.newId();
  const step = stepOf(context, found, { id, step: 'proposed', proposalId: id, ...proposed, evidence });
  await context.db.withTransaction(async (tx) => {
    if ((await updateProposal(tx, found, found.proposalId, id)) === 0) throw changedMeanwhile(found);
    tx.send(insertResolutionStep(step));
  });
  return step;
}

/**
 * Carries out what another operator has proposed: the record, the ledger and the case in one transaction. Of two who
 * confirm at once, one has done it and the other is told so.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function confirmResolution(
  context: ResolveContext,
  { caseId, operatorId }: { caseId: string; operatorId: string },
): Promise<ResolutionStep> {
  const found = await findOpenCase(context, caseId);
  const proposal = await findProposal(context, found);
  if (proposal.operatorId === operatorId) {
    throw conflict('You proposed this yourself: another operator has to confirm it, because two people decide a case.');
  }
  if (!(await context.isOperator(proposal.operatorId))) {
    throw conflict('Whoever proposed this has been revoked since: withdraw it and propose it again.');
  }
  const resolver = resolverOf(context, found, proposal.resolution);
  const carryOut = await resolver.prepare(found, reportedMoneyOf(proposal));
  return context.db.withTransaction(async (tx) => {
    const open = await lockOpenCasesOfSubject(tx, found.merchantId, found.subjectId);
    const locked = open.find(({ id }) => id === found.id);
    if (locked?.proposalId !== proposal.id) throw changedMeanwhile(found);
    const confirmation: Confirmation = { found: locked, proposal, operatorId };
    await carryOut(tx, confirmation);
    return endCase(tx, context, confirmation, { ...locked, step: 'confirmed', evidence: null });
  });
}

/**
 * Takes back a proposal that nobody has confirmed; any operator may.
 *
 * Throws AppError `not_found` and `state_conflict`.
 */
export async function withdrawProposal(
  context: ResolveContext,
  { caseId, operatorId }: { caseId: string; operatorId: string },
): Promise<ResolutionStep> {
  const found = await findOpenCase(context, caseId);
  const { resolution, id: proposalId } = await findProposal(context, found);
  const id = context.newId();
  const step = stepOf(context, found, { id, step: 'withdrawn', proposalId, resolution, operatorId });
  await context.db.withTransaction(async (tx) => {
    if ((await updateProposal(tx, found, proposalId, null)) === 0) throw changedMeanwhile(found);
    tx.send(insertResolutionStep(step));
  });
  return step;
}

/** Closes another open case about the same record, which the confirmed resolution of one has ended too. */
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
  const touched = await closeCase(tx, { merchantId, id, resolution, resolvedAt: context.clock.now() });
  assert(touched === 1, 'a locked case is closed once');
  const { step, evidence } = ended;
  const recorded = stepOf(context, ended, { id: context.newId(), step, proposalId, resolution, evidence, operatorId });
  tx.send(insertResolutionStep(recorded));
  return recorded;
}

function stepOf(
  context: Pick<ResolveContext, 'clock'>,
  { merchantId, id: caseId }: Pick<Case, 'merchantId' | 'id'>,
  recorded: Pick<ResolutionStep, 'id' | 'step' | 'proposalId' | 'resolution' | 'operatorId'> & {
    evidence?: string | null;
    reported?: ReportedMoney | null;
  },
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
    createdAt: context.clock.now(),
  };
}

async function findOpenCase({ db }: ResolveContext, caseId: string): Promise<Case> {
  const found = await findCaseById(db, caseId);
  if (!found) throw new AppError('not_found', `There is no case ${caseId}.`);
  if (found.status !== 'open') throw conflict(`The case has been resolved already, as ${found.resolution}.`);
  return found;
}

async function findProposal({ db }: ResolveContext, found: Case): Promise<ResolutionStep> {
  if (found.proposalId === null) throw conflict('Nothing is proposed for this case.');
  const steps = await listResolutionSteps(db, found.merchantId, found.id);
  const proposal = steps.find(({ id }) => id === found.proposalId);
  assert(proposal, 'a proposal is written with the case that names it');
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
  throw fieldError('invalid_request', 'resolution', `A case of ${found.kind} is resolved as ${names}.`);
}

function checkReportedMoney({ resolution, needsMoney }: CaseResolver, reported: ReportedMoney | null): void {
  if (needsMoney === (reported !== null)) return;
  const message = needsMoney
    ? `To resolve it as ${resolution}, name the network's transaction and its amount.`
    : `To resolve it as ${resolution}, name no transaction and no amount.`;
  throw fieldError('invalid_request', 'transaction', message);
}

function reportedMoneyOf({ transactionId, amountMinor }: ResolutionStep): ReportedMoney | null {
  return transactionId === null || amountMinor === null ? null : { transactionId, amountMinor };
}

function changedMeanwhile({ id }: Case): AppError {
  return conflict(`Somebody else has just changed case ${id}: look at it again.`);
}

function conflict(message: string): AppError {
  return new AppError('state_conflict', message);
}
