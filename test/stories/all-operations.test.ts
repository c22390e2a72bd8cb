import { effort } from '../harness/effort.ts';
import { testWalks } from '../walks/test-walks.ts';

testWalks(effort({ usual: { walks: 6, commandsPerWalk: 20 }, long: { walks: 500, commandsPerWalk: 50 } }));
