import { after, test } from 'node:test';
import { effort } from '../harness/effort.ts';
import { checkRepeats, checkSeeds, endSimulation, everySecondSeed } from '../simulation/test-seeds.ts';

// The whole service from seeds: test/simulation/README.md.

const seeds = everySecondSeed(1, effort({ usual: 25, long: 1_000 }));
const repeated = effort({ usual: 1, long: 50 });

after(endSimulation);

test(`in ${seeds.length} simulated runs with faults no money, event or work is lost or doubled`, async () => {
  await checkSeeds(seeds);
});

test(`${repeated} simulated runs from the same seeds take the same steps in the same order`, async () => {
  // From seed 3 on, which took other steps a second time where work was due at one time.
  await checkRepeats(seeds.slice(1, 1 + repeated));
});
