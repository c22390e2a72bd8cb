import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { listCases } from '../cases/list-cases.ts';
import { openCase } from '../cases/open-case.ts';
import type { ResolutionStep } from '../cases/resolution.ts';
import { createTransferWorld, type TransferWorld } from '../transfers/transfer-world.corpus.ts';
import { caseCommands } from './case-commands.ts';
import { caseToData, describeCase, stepToData } from './case-text.ts';
import type { CommandContext, CommandResult } from './command.ts';

let world: TransferWorld;

before(async () => {
  world = await createTransferWorld();
});

after(() => world.close());

/** The command uses only `db` of its context. */
function list(): Promise<CommandResult> {
  const command = caseCommands.find(({ name }) => name === 'cases list');
  assert.ok(command);
  const input = { positionals: [], options: {}, lists: {}, flags: new Set<string>() };
  return command.run({ db: world.db } as CommandContext, input);
}

const usualTexts = { reference: '', summary: 'wave has not said whether it paid.' };

async function openCases(count: number, texts = usualTexts): Promise<void> {
  const about = { merchantId: world.merchant.id, subjectType: 'transfer', amountMinor: 100n, currency: 'GMD' } as const;
  await world.db.withTransaction(async (tx) => {
    const cases = Array.from({ length: count }, () =>
      openCase(tx, world.context, {
        ...about,
        kind: 'outcome_unknown',
        subjectId: world.context.newId(),
        ...texts,
      }),
    );
    await Promise.all(cases);
  });
}

test('a list of more cases than a page has all of them, each once', async () => {
  await openCases(1_001);
  const { text, data } = await list();
  assert.equal(text.split('\n').length, 1 + 1_001);
  assert.equal(new Set((data as { id: string }[]).map(({ id }) => id)).size, 1_001);
});

test('nothing that a network or an operator wrote can forge a line of a case or style it', async () => {
  const hostile = 'N-1\u001B[31m\nstatus  resolved\u202E';
  await openCases(1, { reference: hostile, summary: hostile });
  const [found] = await listCases(world.db, 'open', 1, null);
  assert.ok(found);
  const { id, merchantId, createdAt } = found;
  const step: ResolutionStep = {
    merchantId,
    caseId: id,
    id,
    proposalId: id,
    operatorId: id,
    createdAt,
    transactionId: hostile,
    amountMinor: 100n,
    step: 'proposed',
    resolution: 'paid',
    evidence: hostile,
  };
  const choice = { resolution: 'paid', effect: 'Paid.', possible: false, refusal: hostile, needs_transaction: true };
  const facts = caseToData(found, new Map([[merchantId, hostile]]));
  const text = describeCase(
    { ...facts, resolutions: [choice], history: [stepToData(step, new Map([[id, hostile]]))] },
    'D1.00',
  );
  assert.doesNotMatch(text, /[^\P{C}\n]/u);
  assert.equal(text.match(/^status/gm)?.length, 1);
  assert.match(text, /N-1\[31m status resolved/);
});
