/**
 * Plants each bug in a copy of the service and counts the seeds until the simulation finds it:
 *
 *     node test/simulation/find-planted.ts [seeds at most] [part of a bug's name]
 */
import { findPlanted } from './plant.ts';
import { plantedBugs } from './planted-bugs.ts';

const [seedsMax = '500', part = ''] = process.argv.slice(2);

for (const bug of plantedBugs.filter(({ name }) => name.includes(part)))
  console.log(`${bug.name}: ${(await findPlanted(bug, Number(seedsMax))) ?? 'not found'}`);
