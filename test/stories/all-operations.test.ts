import { test } from 'node:test';
import { effort } from '../harness/effort.ts';
import { walkOverAllOperations } from '../walks/all-operations.ts';

const walks = effort({ usual: 6, long: 500 });
const commandsPerWalk = effort({ usual: 20, long: 50 });

test(`${walks} random walks over all operations match a model of the balances after each command`, async (context) => {
  const commands = await walkOverAllOperations({ walks, commandsPerWalk });
  context.diagnostic(`${commands} commands`);
});
