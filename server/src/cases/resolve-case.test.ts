import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { createTestDatabase, type TestDatabase } from '../../../test/harness/database.ts';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { openTestDatabase } from '../../../test/harness/open-test-database.ts';
import { AppError } from '../api/app-error.ts';
import { sqlState } from '../kit/db-errors.ts';
import type { Database } from '../kit/db.ts';
import { uuidV7 } from '../kit/ids.ts';
import { seededRandom } from '../kit/random.ts';
import { createBusiness } from '../merchants/create-business.ts';
import { findCaseById, listCasesOfSubject, listResolutionSteps } from './list-cases.ts';
import { openCase } from './open-case.ts';
import type { Case } from './case.ts';
import type { CaseResolver, Confirmation } from './resolution.ts';
import {
  closeWith,
  confirmResolution,
  listChoices,
  proposeResolution,
  withdrawProposal,
  type NewProposal,
  type ResolveContext,
} from './resolve-case.ts';

let database: TestDatabase;
let db: Database;
let context: ResolveContext;
let merchantId: string;
let found: Case;
/** What was carried out, once it was committed. */
let done: Confirmation[];
let refusal: string | null;
let revoked: string[];

const clock = new ManualClock();
const random = seededRandom('resolving');
const newId = (): string => uuidV7(clock, random);
const [awa, lamin, binta] = [newId(), newId(), newId()];

const accept: CaseResolver = {
  subjectType: 'charge',
  kind: 'second_success',
  resolution: 'accept',
  effect: 'The money is taken.',
  needsMoney: false,
  refusal: () => Promise.resolve(refusal),
  prepare: () => Promise.resolve((tx, confirmation) => Promise.resolve(tx.afterCommit(() => done.push(confirmation)))),
};
const paid: CaseResolver = { ...accept, resolution: 'paid', needsMoney: true };
const ofTransfers: CaseResolver = { ...accept, subjectType: 'transfer', resolution: 'paid_out' };
const evidence = 'Wave says so, ticket 4711 of 20 November.';

before(async () => {
  database = await createTestDatabase();
  db = openTestDatabase(database);
  const business = await db.withTransaction((tx) => createBusiness(tx, { clock, random, newId }, { name: 'Shop' }));
  merchantId = business.test.id;
});

beforeEach(async () => {
  [done, refusal, revoked] = [[], null, []];
  const isOperator = (_db: unknown, id: string) => Promise.resolve(!revoked.includes(id));
  context = { db, clock, newId, resolvers: [accept, paid, ofTransfers], isOperator };
  found = await open(newId(), 'T1');
});

after(async () => {
  await db.close();
  await database.drop();
});

async function open(subjectId: string, reference: string): Promise<Case> {
  const money = { amountMinor: 10_000n, currency: 'GMD', summary: 'Paid twice.' };
  const about = { merchantId, kind: 'second_success', subjectType: 'charge', subjectId, reference } as const;
  await db.withTransaction((tx) => openCase(tx, { clock, newId }, { ...about, ...money }));
  const cases = await listCasesOfSubject(db, merchantId, subjectId);
  return cases.find((one) => one.reference === reference) ?? assert.fail();
}

const propose = (changes: Partial<NewProposal> = {}) =>
  proposeResolution(context, {
    caseId: found.id,
    resolution: 'accept',
    evidence,
    reported: null,
    operatorId: awa,
    ...changes,
  });
const confirm = (operatorId: string) => confirmResolution(context, { caseId: found.id, operatorId });
const withdraw = (operatorId: string) => withdrawProposal(context, { caseId: found.id, operatorId });
const now = async (): Promise<Case> => (await findCaseById(db, found.id)) ?? assert.fail();
const history = async (one = found) =>
  (await listResolutionSteps(db, merchantId, one.id)).map(
    ({ step, resolution, operatorId }) => `${step} ${resolution} ${operatorId}`,
  );

const refused = (work: Promise<unknown>, message: RegExp, code = 'state_conflict') =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof AppError, String(error));
    const text = error.fields?.map((field) => field.message).join(' ') ?? error.message;
    assert.match(text, message);
    assert.equal(error.code, code);
    return true;
  });

test('a case is resolved when one operator proposes and another confirms', async () => {
  await propose();
  assert.equal((await now()).status, 'open');
  assert.equal(done.length, 0, 'a proposal changes nothing');
  await clock.advance(1_000);
  await confirm(lamin);
  const { status, resolution, resolvedAt, proposalId } = await now();
  assert.deepEqual([status, resolution, proposalId], ['resolved', 'accept', null]);
  assert.deepEqual(resolvedAt, clock.now());
  assert.deepEqual(
    done.map((confirmation) => [confirmation.found.id, confirmation.operatorId, confirmation.proposal.evidence]),
    [[found.id, lamin, evidence]],
  );
  assert.deepEqual(await history(), [`proposed accept ${awa}`, `confirmed accept ${lamin}`]);
  await refused(confirm(binta), /already resolved, as accept/);
  await refused(propose(), /already resolved, as accept/);
});

test('an operator cannot confirm their own proposal, however often they propose', async () => {
  await propose();
  await refused(confirm(awa), /You proposed this yourself. Another operator has to confirm it/);
  await propose({ operatorId: lamin });
  await propose();
  await refused(confirm(awa), /You proposed this yourself/);
  await confirm(lamin);
});

test('a revoked operator’s proposal cannot be confirmed', async () => {
  await propose();
  revoked = [awa];
  await refused(confirm(lamin), /has been revoked/);
  assert.equal(done.length, 0);
  await withdraw(lamin);
  await propose({ operatorId: binta });
  const slow: CaseResolver = {
    ...accept,
    prepare: (...of) => {
      revoked = [awa, binta];
      return accept.prepare(...of);
    },
  };
  const meanwhile = confirmResolution({ ...context, resolvers: [slow] }, { caseId: found.id, operatorId: lamin });
  await refused(meanwhile, /has been revoked/);
  revoked = [awa];
  await confirm(lamin);
});

test('a withdrawn proposal cannot be confirmed, and stays in the history', async () => {
  await propose();
  await withdraw(awa);
  await refused(confirm(lamin), /No resolution is proposed/);
  await refused(withdraw(awa), /No resolution is proposed/);
  assert.deepEqual(await history(), [`proposed accept ${awa}`, `withdrawn accept ${awa}`]);
  assert.equal((await now()).status, 'open');
});

test('a new proposal replaces the pending one, which stays in the history', async () => {
  await propose();
  const reported = { transactionId: 'T9', amountMinor: 9_900n };
  await propose({ resolution: 'paid', reported, operatorId: lamin });
  await refused(confirm(lamin), /You proposed this yourself/);
  await confirm(awa);
  assert.equal(done[0]?.proposal.transactionId, 'T9');
  assert.equal(done[0]?.proposal.amountMinor, 9_900n);
  assert.deepEqual(await history(), [`proposed accept ${awa}`, `proposed paid ${lamin}`, `confirmed paid ${awa}`]);
});

test('of many concurrent confirmations, one carries the resolution out', async () => {
  await propose();
  const others = Array.from({ length: 8 }, () => newId());
  const responses = await Promise.allSettled(others.map(confirm));
  assert.equal(responses.filter(({ status }) => status === 'fulfilled').length, 1);
  assert.equal(done.length, 1);
  assert.equal((await history()).length, 2);
  for (const response of responses) {
    if (response.status === 'rejected')
      assert.match(String(response.reason), /Another operator has just|already resolved/);
  }
});

test('a concurrent confirmation and withdrawal end as one of the two', async () => {
  for (let round = 0; round < 10; round += 1) {
    found = await open(newId(), 'T1');
    done = [];
    await propose();
    const responses = await Promise.allSettled([confirm(lamin), withdraw(awa)]);
    assert.equal(responses.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await now()).status === 'resolved', done.length === 1);
    assert.equal((await history()).length, 2);
  }
});

test('of two concurrent proposals one is pending, and the other operator is notified', async () => {
  const responses = await Promise.allSettled([propose(), propose({ operatorId: lamin })]);
  const written = responses.filter(({ status }) => status === 'fulfilled').length;
  assert.equal((await history()).length, written);
  assert.ok(written >= 1);
  assert.ok((await now()).proposalId !== null);
});

test('a proposal that is no longer possible leaves the case and the proposal as they were', async () => {
  await propose();
  const failing: CaseResolver = {
    ...accept,
    prepare: () => Promise.resolve(() => Promise.reject(new AppError('state_conflict', 'It was paid meanwhile.'))),
  };
  context = { ...context, resolvers: [failing] };
  await refused(confirm(lamin), /It was paid meanwhile/);
  assert.equal((await now()).status, 'open');
  assert.deepEqual(await history(), [`proposed accept ${awa}`]);
});

test('a resolution can close another case of the same record, which names it', async () => {
  const other = await open(found.subjectId, 'T2');
  const both: CaseResolver = {
    ...accept,
    prepare: () => Promise.resolve((tx, confirmation) => closeWith(tx, context, confirmation, other)),
  };
  context = { ...context, resolvers: [both] };
  await propose();
  await confirm(lamin);
  assert.equal((await findCaseById(db, other.id))?.status, 'resolved');
  const [step] = await listResolutionSteps(db, merchantId, other.id);
  assert.equal(step?.evidence, `Closed with case ${found.id}.`);
});

test('the choices are those of the case’s record and kind, each with its refusal if any', async () => {
  const shown = await listChoices(context, found);
  assert.deepEqual(
    shown.map(({ resolution }) => resolution),
    ['accept', 'paid'],
  );
  refusal = 'It was taken back.';
  assert.deepEqual((await listChoices(context, found))[0]?.refusal, refusal);
  await refused(propose(), /It was taken back/);
  assert.deepEqual(await history(), []);
});

test('a proposal needs a resolution, evidence and, where required, the reported money', async () => {
  const bad = 'invalid_request';
  await refused(propose({ resolution: 'paid_out' }), /as accept or paid/, bad);
  for (const text of ['', 'nine char', '         .', 'x'.repeat(2_001)]) {
    await refused(propose({ evidence: text }), /10 to 2000 characters/, bad);
  }
  await refused(propose({ resolution: 'paid' }), /add the network's transaction/, bad);
  await refused(propose({ reported: { transactionId: 'T', amountMinor: 1n } }), /leave out transaction/, bad);
  await refused(propose({ caseId: newId() }), /There is no case/, 'not_found');
  await propose({ evidence: 'ten chars.' });
  await propose({ evidence: 'x'.repeat(2_000) });
});

test('the serving role cannot change resolution steps', async () => {
  await propose();
  for (const text of [`UPDATE case_resolutions SET evidence = ''`, 'DELETE FROM case_resolutions']) {
    await assert.rejects(
      db.run({ name: `test_${text.slice(0, 6)}`, text, values: [] }),
      (error: Error) => sqlState(error.cause) === '42501',
    );
  }
});
