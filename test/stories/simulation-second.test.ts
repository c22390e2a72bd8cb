import { after, test } from 'node:test';
import { effort } from '../harness/effort.ts';
import { checkSeeds, endSimulation, everySecondSeed } from '../simulation/test-seeds.ts';

const seeds = everySecondSeed(2, effort({ usual: 25, long: 1_000 }));

after(endSimulation);

test(`in ${seeds.length} other simulated runs no money, event or work is lost or doubled`, async () => {
  await checkSeeds(seeds);
});
