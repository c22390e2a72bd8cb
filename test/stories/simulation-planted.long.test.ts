import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findPlanted } from '../simulation/plant.ts';
import { plantedBugs } from '../simulation/planted-bugs.ts';

// The test of the simulator: each bug stands in a copy of the service, never in the service.

const seedsMax = 500;

for (const bug of plantedBugs) {
  test(`the simulation finds a planted bug: ${bug.name}`, async () => {
    assert.notEqual(await findPlanted(bug, seedsMax), null, `not found in ${seedsMax} seeds`);
  });
}
