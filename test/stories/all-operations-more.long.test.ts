import { test } from 'node:test';
import { walkOverAllOperations } from '../walks/all-operations.ts';

// The other half of the thousand, so that each part of the long run ends within an hour.
const walks = 500;

test(`${walks} random walks over all operations match a model of the balances after each command`, async (context) => {
  const commands = await walkOverAllOperations({ walks, commandsPerWalk: 50 });
  context.diagnostic(`${commands} commands`);
});
