import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../../test/harness/manual-clock.ts';
import { LocalAllowances } from '../kit/local-allowance.ts';
import { withLookUpBudget } from './look-up-budget.ts';
import { ScriptedNetwork } from './scripted-network.corpus.ts';

test('an account looks up no more often than its budget; what is over it stays unknown', async () => {
  const clock = new ManualClock();
  const allowances = new LocalAllowances(clock, { rate: 2, burst: 4 });
  const network = new ScriptedNetwork('afrimoney');
  const other = new ScriptedNetwork('wave');
  const [limited, free] = [network, other].map((one) => withLookUpBudget(one, allowances));
  const lookUp = async () => (await limited?.collections?.lookUp({ reference: 'Shop1234a', handles: {} }))?.state;
  for (let second = 0; second < 10; second += 1) {
    for (let time = 0; time < 20; time += 1) await lookUp();
    await clock.advance(1_000);
  }
  const count = network.count('look_up');
  assert.ok(count >= 20 && count <= 24, `${count} in ten seconds`);
  for (let time = 0; time < 4; time += 1) await lookUp();
  assert.equal(await lookUp(), 'unknown');
  await free?.payouts?.lookUp({ reference: 'Shop1234a', handles: {} });
  assert.equal(other.count('look_up_payout'), 1, 'each account has its own');
});
