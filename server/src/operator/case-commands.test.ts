import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openCase } from '../cases/open-case.ts';
import { createTransferWorld } from '../transfers/transfer-world.corpus.ts';
import type { TransferWorld } from '../transfers/transfer-world.corpus.ts';
import { caseCommands } from './case-commands.ts';
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

async function openCases(count: number): Promise<void> {
  const about = { merchantId: world.merchant.id, subjectType: 'transfer', amountMinor: 100n, currency: 'GMD' } as const;
  await world.db.withTransaction(async (tx) => {
    const cases = Array.from({ length: count }, () =>
      openCase(tx, world.context, {
        ...about,
        kind: 'outcome_unknown',
        subjectId: world.context.newId(),
        reference: '',
        summary: 'wave has not said whether it paid.',
      }),
    );
    await Promise.all(cases);
  });
}

test('a list of more than 500 cases shows the newest 500 and says so', async () => {
  await openCases(500);
  const whole = await list();
  assert.equal(whole.text.split('\n').length, 501);
  await openCases(1);
  const cut = await list();
  assert.equal((cut.data as unknown[]).length, 500);
  assert.match(cut.text, /\nThese are the newest 500; there are older ones\.$/);
});
